public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Fills an object that is isolated to the main actor, line by line.
    public static func mainQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: main-queue
        let list = await FileList()
        // No scope: the main queue belongs to the process. Its operations run even if the caller is cancelled.
        for file in input.files.prefix(5) {
            TaskOperationQueue.main.addOperation { @MainActor in list.append(file) }
        }
        let text = TaskOperationQueue.main.addBarrier { @MainActor in list.text }  // after all of these
        return RecipeResult(try await text.value)
        // endregion
    }
}

// region: main-queue-list
@MainActor
private final class FileList {
    private var lines: [String] = []

    init() {}

    func append(_ file: InputFile) {
        lines.append("\(lines.count + 1): \(file.size) bytes")
    }

    var text: String { lines.joined(separator: ", ") }
}
// endregion
