import Foundation
import MigrationExamplesSupport

// region: synchronous-subclass
/// Digests a file.
private final class DigestOperation: Operation, @unchecked Sendable {
    private let file: InputFile
    private(set) var outcome: Result<Digest, Error>?

    init(file: InputFile) {
        self.file = file
    }

    override func main() {
        if isCancelled { return }
        outcome = Result { try file.digest(isCancelled: { self.isCancelled }) }
    }
}
// endregion

extension Legacy {
    /// Digests every file with an operation of its own.
    public static func synchronousSubclass(_ input: RecipeInput) throws -> RecipeResult {
        // region: synchronous-subclass-use
        let queue = OperationQueue()
        let operations = input.files.map { DigestOperation(file: $0) }
        queue.addOperations(operations, waitUntilFinished: true)

        var digests = DigestList()
        for (file, operation) in zip(input.files, operations) {
            if let outcome = operation.outcome { digests.add(file, outcome) }
        }
        return digests.result
        // endregion
    }
}
