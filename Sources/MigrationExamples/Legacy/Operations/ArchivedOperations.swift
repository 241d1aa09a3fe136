import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Archives operations that have not run, restores them, and runs them.
    public static func archivedOperations(_ input: RecipeInput) throws -> RecipeResult {
        // region: archived-operations
        let counts = input.files.prefix(20).map { ChunkCountOperation(size: $0.size) }
        let archive = try NSKeyedArchiver.archivedData(withRootObject: counts as NSArray, requiringSecureCoding: true)

        // After the next launch:
        let types = [NSArray.self, ChunkCountOperation.self]
        let restored = try NSKeyedUnarchiver.unarchivedObject(ofClasses: types, from: archive)
        let operations = restored as? [ChunkCountOperation] ?? []
        let queue = OperationQueue()
        queue.addOperations(operations, waitUntilFinished: true)
        return RecipeResult("\(operations.count) restored, \(operations.reduce(0) { $0 + $1.chunks }) chunks")
        // endregion
    }
}

// region: archived-operations-operation
/// An operation that an archive can keep. Its state, queue and dependencies are lost.
final class ChunkCountOperation: Operation, NSSecureCoding, @unchecked Sendable {
    static var supportsSecureCoding: Bool { true }

    private let size: Int
    private(set) var chunks = 0

    init(size: Int) {
        self.size = size
    }

    init?(coder: NSCoder) {
        size = coder.decodeInteger(forKey: "size")
    }

    func encode(with coder: NSCoder) {
        coder.encode(size, forKey: "size")
    }

    override func main() {
        chunks = (size + InputFile.chunkSize - 1) / InputFile.chunkSize
    }
}
// endregion
