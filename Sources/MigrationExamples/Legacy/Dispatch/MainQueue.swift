import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills an object of the main queue, line by line.
    public static func mainQueue(_ input: RecipeInput) throws -> RecipeResult {
        // region: main-queue
        let list = FileList()
        for file in input.files.prefix(5) {
            DispatchQueue.main.async { list.append(file) }
        }
        return DispatchQueue.main.sync { RecipeResult(list.text) }
        // endregion
    }
}

// region: main-queue-list
private final class FileList {
    private var lines: [String] = []

    func append(_ file: InputFile) {
        dispatchPrecondition(condition: .onQueue(.main))
        lines.append("\(lines.count + 1): \(file.size) bytes")
    }

    var text: String { lines.joined(separator: ", ") }
}
// endregion
