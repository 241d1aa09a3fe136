extension FileMatcher {
    /// Looks for what more than one place shows.
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
        analyzeRoles()
        analyzeAdvanced()
        analyzePorted()
        analyzeOutcomes()
        addNamedTypes()
    }
}
