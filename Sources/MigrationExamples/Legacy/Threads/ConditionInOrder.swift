import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Three threads, started in any order, do their steps one after the other.
    public static func conditionInOrder(_ input: RecipeInput) throws -> RecipeResult {
        // region: condition-in-order
        let journal = Journal()
        let steps = Steps()
        Thread.detachNewThread {
            steps.perform(2) { journal.write("after \(journal.lines.count) steps") }
        }
        Thread.detachNewThread {
            steps.perform(1) { journal.write("\(input.files.reduce(0) { $0 + $1.size }) bytes") }
        }
        Thread.detachNewThread {
            steps.perform(0) { journal.write("\(input.files.count) files") }
        }
        steps.perform(3) {}
        return journal.result
        // endregion
    }
}

// region: condition-in-order-steps
private final class Steps: @unchecked Sendable {
    private let condition = NSCondition()
    private var next = 0

    /// Does a step when all before it are done. Blocks until then.
    func perform(_ number: Int, _ step: () -> Void) {
        condition.lock()
        while next != number { condition.wait() }
        step()
        next += 1
        condition.broadcast()  // whoever is next may be any of those who wait
        condition.unlock()
    }
}
// endregion
