import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Runs the work that its conditions allow, and its dependents in any case.
    public static func operationConditions(_ input: RecipeInput) throws -> RecipeResult {
        // region: operation-conditions
        let queue = OperationQueue()
        let (done, asked) = (SharedCount(), SharedCount())
        for file in input.sample {
            let count = ConditionalOperation { done.add(1) }
            count.conditions = [{ file.size > 0 }, { file.size < 1_000_000 }]
            let next = BlockOperation { if !count.isCancelled { asked.add(1) } }
            next.addDependency(count)
            queue.addOperations([count, next], waitUntilFinished: false)
        }
        queue.waitUntilAllOperationsAreFinished()
        // endregion
        return RecipeResult(
            "\(done.total) of \(input.sample.count) done, \(asked.total) went on, \(heldBack().text)")
    }

    private static func heldBack() -> RecipeResult {
        let journal = Journal()
        // region: operation-conditions-ready
        let queue = OperationQueue()
        let held = HeldOperation { journal.write("held") }
        queue.addOperation(held)
        queue.addOperations([BlockOperation { journal.write("free") }], waitUntilFinished: true)
        held.release()
        held.waitUntilFinished()
        // endregion
        return journal.result
    }
}

// region: operation-conditions-ready-class
/// Is not ready before its release, and tells its queue of that.
private final class HeldOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isHeld = true
    private let work: () -> Void

    init(_ work: @escaping () -> Void) { self.work = work }

    override var isReady: Bool { super.isReady && !lock.withLock { isHeld } }
    override func main() { work() }

    func release() {
        willChangeValue(forKey: "isReady")
        lock.withLock { isHeld = false }
        didChangeValue(forKey: "isReady")
    }
}
// endregion

// region: operation-conditions-class
private final class ConditionalOperation: Operation, @unchecked Sendable {
    var conditions: [() -> Bool] = []  // set before the operation is added
    private let work: () -> Void

    init(_ work: @escaping () -> Void) {
        self.work = work
    }

    override func main() {
        guard conditions.allSatisfy({ $0() }) else { return cancel() }
        work()
    }
}
// endregion
