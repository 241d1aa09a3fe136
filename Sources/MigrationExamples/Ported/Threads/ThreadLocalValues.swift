public import MigrationExamplesSupport

extension Ported {
    /// Handles each request in a task. A function deep in the call stack reads the number of its request.
    public static func threadLocalValues(_ input: RecipeInput) async throws -> RecipeResult {
        // region: thread-local-values
        let log = Journal()
        await withDiscardingTaskGroup { requests in
            for (number, file) in input.files.prefix(5).enumerated() {
                requests.addTask {
                    await Request.$number.withValue(number + 1) { await handle(file, log) }
                }
            }
        }
        return RecipeResult(log.lines.sorted().joined(separator: ", "))
        // endregion
    }
}

// region: thread-local-values-log
private enum Request {
    @TaskLocal static var number = 0
}

private func handle(_ file: InputFile, _ log: Journal) async {
    async let written: Void = write("\(file.size) bytes", to: log)  // a child task knows it too
    await written
}

private func write(_ text: String, to log: Journal) {
    log.write("request \(Request.number): \(text)")
}
// endregion
