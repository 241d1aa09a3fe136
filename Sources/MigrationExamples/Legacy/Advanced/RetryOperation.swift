import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files from a source that fails the first two times.
    public static func retryOperation(_ input: RecipeInput) throws -> RecipeResult {
        // region: retry-operation
        let queue = OperationQueue()
        let (attempts, read) = (SharedCount(), SharedCount())
        for file in input.sample {
            let operation = RetryOperation(attempts: 4, firstPause: 0.001) { attempt in
                attempts.add(1)
                if attempt < 3 { throw URLError(.networkConnectionLost) }
                read.add(file.size)
            }
            queue.addOperation(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        // endregion
        return RecipeResult("\(read.total) bytes, \(attempts.total) attempts, \(performed(queue))")
    }

    private static func performed(_ queue: OperationQueue) -> String {
        let (attempts, isDone) = (SharedCount(), DispatchSemaphore(value: 0))
        performOperation(attempts: 3, on: queue) {
            attempts.add(1)
            if attempts.total < 3 { throw URLError(.networkConnectionLost) }
        } completion: { error in
            if error != nil { attempts.add(100) }
            isDone.signal()
        }
        isDone.wait()
        return "performed \(attempts.total) times"
    }

    // region: retry-operation-perform
    /// Performs a new operation after each failure.
    private static func performOperation(
        attempts: Int, on queue: OperationQueue, _ work: @escaping () throws -> Void,
        completion: @escaping (Error?) -> Void
    ) {
        queue.addOperation {
            do {
                try work()
                completion(nil)
            } catch  where attempts > 1 {
                performOperation(attempts: attempts - 1, on: queue, work, completion: completion)
            } catch {
                completion(error)
            }
        }
    }
    // endregion
}

// region: retry-operation-class
private final class RetryOperation: AdvancedOperation, @unchecked Sendable {
    private let attempts: Int
    private var pause: TimeInterval
    private let work: (_ attempt: Int) throws -> Void

    init(attempts: Int, firstPause: TimeInterval, _ work: @escaping (_ attempt: Int) throws -> Void) {
        self.attempts = attempts
        pause = firstPause
        self.work = work
    }

    override func execute() {
        attempt(1)
    }

    private func attempt(_ number: Int) {
        if isCancelled { return finish() }  // a cancellation is heard after the pause
        do {
            try work(number)
            finish()
        } catch  where number < attempts {
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { self.attempt(number + 1) }
            pause *= 2
        } catch {
            finish(error)
        }
    }
}
// endregion
