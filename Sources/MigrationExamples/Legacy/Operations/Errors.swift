import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts the lines of texts, where some files are no text and some cannot be read.
    public static func errors(_ input: RecipeInput) throws -> RecipeResult {
        // region: errors
        let queue = OperationQueue()
        let counts = input.sample.map { CountOperation(of: TextOperation($0)) }
        queue.addOperations(counts.map(\.text) + counts, waitUntilFinished: true)

        let lines = counts.reduce(0) { $0 + ($1.lines ?? 0) }
        let notText = counts.filter { $0.error is NotText }.count
        let problems = counts.compactMap { $0.error as? FileProblem }
        return RecipeResult(
            "\(lines) lines, \(notText) not text, \(problems.count) unreadable", unreadable: problems)
        // endregion
    }
}

// region: errors-operations
// `Operation` has no error, so each stores its own, and dependents must read it.
private final class TextOperation: Operation, @unchecked Sendable {
    private let file: InputFile
    private(set) var text: String?
    private(set) var error: Error?

    init(_ file: InputFile) {
        self.file = file
    }

    override func main() {
        do {
            text = try file.text()
        } catch {
            self.error = error
        }
    }
}

// `lines` and `error` are written before it finishes, and read after it.
private final class CountOperation: Operation, @unchecked Sendable {
    let text: TextOperation
    private(set) var lines: Int?
    private(set) var error: Error?

    init(of text: TextOperation) {
        self.text = text
        super.init()
        addDependency(text)
    }

    override func main() {
        error = text.error
        lines = text.text?.lineCount
    }
}
// endregion
