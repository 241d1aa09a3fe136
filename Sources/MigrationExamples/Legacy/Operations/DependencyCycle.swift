import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Two steps that wait for each other, and their outcomes.
    public static func dependencyCycle(_ input: RecipeInput) throws -> RecipeResult {
        // region: dependency-cycle
        let queue = OperationQueue()
        let steps = SharedCount()
        let read = BlockOperation { steps.add(1) }
        let check = BlockOperation { steps.add(1) }
        check.addDependency(read)
        read.addDependency(check)
        queue.addOperations([read, check], waitUntilFinished: false)

        // Waiting without a bound would be for ever, and nothing would say why.
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            queue.waitUntilAllOperationsAreFinished()
            hasEnded.signal()
        }
        let journal = Journal()
        if hasEnded.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            journal.write("\(steps.total) of 2 steps with the cycle")
            queue.isSuspended = true  // or one would start when the other is cancelled, before it is itself
            queue.cancelAllOperations()
            queue.maxConcurrentOperationCount = 1  // or both would end at once, and each wait for the other's lock
            queue.isSuspended = false
            hasEnded.wait()
        }

        let repaired = BlockOperation { steps.add(1) }
        let last = BlockOperation { journal.write("\(steps.total) of 2 steps without it") }
        let second = BlockOperation { steps.add(1) }
        second.addDependency(repaired)
        last.addDependency(second)
        queue.addOperations([repaired, second, last], waitUntilFinished: true)
        return journal.result
        // endregion
    }
}
