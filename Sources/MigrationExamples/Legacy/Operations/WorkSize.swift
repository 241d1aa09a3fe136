import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Works through 100 values in 10 operations of 10 values each.
    public static func workSize(_ input: RecipeInput) throws -> RecipeResult {
        // region: work-size
        let values = (0..<100).map { input.files.isEmpty ? $0 : input.files[$0 % input.files.count].size }
        let queue = OperationQueue()
        var roots = [Int](repeating: 0, count: values.count)
        roots.withUnsafeMutableBufferPointer { roots in
            // Each operation writes to places of its own, and all are done before the pointer is gone.
            nonisolated(unsafe) let roots = roots
            for start in stride(from: 0, to: values.count, by: 10) {
                queue.addOperation {
                    for index in start..<start + 10 { roots[index] = Int(Double(values[index]).squareRoot()) }
                }
            }
            queue.waitUntilAllOperationsAreFinished()
        }
        return RecipeResult("\(roots.count) roots, sum \(roots.reduce(0, +))")
        // endregion
    }
}
