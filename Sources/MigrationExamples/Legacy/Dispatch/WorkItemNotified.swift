import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Adds sizes up in a work item, and shows the sum on the main queue when it is done.
    public static func workItemNotified(_ input: RecipeInput) throws -> RecipeResult {
        // region: work-item-notified
        let sum = Journal()
        let shown = Journal()
        let isShown = DispatchSemaphore(value: 0)
        let item = DispatchWorkItem(qos: .utility) {
            sum.write("\(input.files.reduce(0) { $0 + $1.size }) bytes")
        }
        item.notify(queue: .main) {
            shown.write("sum: \(sum.lines[0])")
            isShown.signal()
        }
        DispatchQueue.global().async(execute: item)
        isShown.wait()
        return shown.result
        // endregion
    }
}
