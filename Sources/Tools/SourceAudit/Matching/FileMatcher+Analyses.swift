extension FileMatcher {
    /// Finds patterns that span several places.
    mutating func analyze() {
        analyzeSubclasses()
        analyzeExtensionsAndCasts()
        analyzeDependencies()
        analyzeSemaphores()
        analyzeDispatchQueues()
        analyzeQueueValues()
        analyzeWorkItemsAndTimers()
        analyzeLocks()
        analyzeThreads()
        analyzeSystems()
        analyzeChecking()
        analyzeIsolation()
        analyzeRoles()
        analyzeAdvanced()
        analyzePorted()
        analyzePool()
        analyzeOutcomes()
        addNamedTypes()
    }
}
