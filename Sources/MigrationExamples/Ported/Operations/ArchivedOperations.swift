import Foundation
public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Encodes the inputs of operations that have not run, decodes them, and runs the operations.
    public static func archivedOperations(_ input: RecipeInput) async throws -> RecipeResult {
        // region: archived-operations
        let counts = input.files.prefix(20).map { ChunkCount(size: $0.size) }
        let archive = try JSONEncoder().encode(counts)

        // After the next launch:
        let restored = try JSONDecoder().decode([ChunkCount].self, from: archive)
        return try await withTaskOperationQueue { queue in
            let operations = restored.map { queue.addOperation($0) }
            var chunks = 0
            for operation in operations { chunks += try await operation.value }
            return RecipeResult("\(operations.count) restored, \(chunks) chunks")
        }
        // endregion
    }
}

// region: archived-operations-body
/// The inputs are `Codable`. The operation itself is created from them again.
private struct ChunkCount: TaskOperationBody, Codable {
    let size: Int

    func main() async throws -> Int {
        (size + InputFile.chunkSize - 1) / InputFile.chunkSize
    }
}
// endregion
