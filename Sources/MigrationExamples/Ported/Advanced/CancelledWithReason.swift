public import MigrationExamplesSupport
import Synchronization
import TaskOperations

extension Ported {
    /// Cancels the operations of files that are too large, and states the reason.
    public static func cancelledWithReason(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelled-with-reason
        try await withTaskOperationQueue(.init(isSuspended: true)) { queue in
            let reads = input.sample.map { file in Cancellable(queue.addOperation { file.lineCount() }) }
            for (file, read) in zip(input.sample, reads) where file.size > 4096 {
                read.cancel(because: TooLarge(size: file.size))
            }
            queue.isSuspended = false
            var (lines, sizes) = (0, [Int]())
            for read in reads {
                do {
                    lines += try await read.value
                } catch let error as TooLarge {
                    sizes.append(error.size)
                }
            }
            return RecipeResult("\(lines) lines, \(sizes.count) too large with \(sizes.reduce(0, +)) bytes")
        }
        // endregion
    }
}

// region: cancelled-with-reason-class
/// An operation that can be cancelled with a reason, which takes the place of the `CancellationError`.
private final class Cancellable<Value: Sendable>: Sendable {
    private let operation: TaskOperation<Value>
    private let reason = Mutex<(any Error)?>(nil)

    init(_ operation: TaskOperation<Value>) {
        self.operation = operation
    }

    func cancel(because error: any Error) {
        reason.withLock { if $0 == nil { $0 = error } }
        operation.cancel()
    }

    var value: Value {
        get async throws {
            do {
                return try await operation.value
            } catch let error as CancellationError {
                throw reason.withLock { $0 } ?? error
            }
        }
    }
}
// endregion

private struct TooLarge: Error {
    let size: Int
}
