public import MigrationExamplesSupport

extension Ported {
    /// Writes a line after a delay.
    public static func performAfterDelay(_ input: RecipeInput) async throws -> RecipeResult {
        // region: perform-after-delay
        let journal = Journal()
        journal.write("asked")
        try await Task.sleep(for: .milliseconds(20))
        journal.write("\(input.files.count) files")
        return journal.result
        // endregion
    }
}
