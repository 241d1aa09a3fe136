public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Processes 100 values in 10 operations of 10 values each.
    public static func workSize(_ input: RecipeInput) async throws -> RecipeResult {
        // region: work-size
        let values = (0..<100).map { input.files.isEmpty ? $0 : input.files[$0 % input.files.count].size }
        return try await withTaskOperationQueue { queue in
            let portions = stride(from: 0, to: values.count, by: 10).map { start in
                queue.addOperation {
                    values[start..<start + 10].map { Int(Double($0).squareRoot()) }
                }
            }
            var roots: [Int] = []
            for portion in portions { roots += try await portion.value }
            return RecipeResult("\(roots.count) roots, sum \(roots.reduce(0, +))")
        }
        // endregion
    }
}
