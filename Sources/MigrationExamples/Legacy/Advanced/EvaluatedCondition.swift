import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts the lines of files that meet a condition.
    public static func evaluatedCondition(_ input: RecipeInput) throws -> RecipeResult {
        // region: evaluated-condition
        let queue = AdvancedQueue()
        let lines = SharedCount()
        let counts = input.sample.map { file in
            let count = AdvancedBlockOperation { _ in lines.add(file.lineCount()) }
            count.conditions = [IsText(file: file)]
            return count
        }
        counts.forEach(queue.add)
        queue.waitUntilAllOperationsAreFinished()
        let refused = counts.filter { !$0.errors.isEmpty }.count
        return RecipeResult("\(lines.total) lines, \(refused) refused")
        // endregion
    }
}

// region: evaluated-condition-type
/// Holds for files that are text. To know that, they have to be read.
private struct IsText: AdvancedCondition {
    let file: InputFile

    func evaluate(for operation: AdvancedOperation, completion: @escaping (Error?) -> Void) {
        DispatchQueue.global().async {
            do {
                _ = try file.text()
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }
}
// endregion
