import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Cancels all waiting work items of a queue except the first.
    public static func workItemCancelled(_ input: RecipeInput) throws -> RecipeResult {
        // region: work-item-cancelled
        let queue = DispatchQueue(label: "items", attributes: .initiallyInactive)
        let journal = Journal()
        let items = input.files.prefix(5).map { file in DispatchWorkItem { journal.write("\(file.size)") } }
        for item in items { queue.async(execute: item) }
        for item in items.dropFirst() { item.cancel() }
        queue.activate()
        queue.sync {}  // comes after all of them
        journal.write("\(items.filter(\.isCancelled).count) cancelled")
        return journal.result
        // endregion
    }
}
