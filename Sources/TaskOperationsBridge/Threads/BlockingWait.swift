internal import Dispatch
internal import Synchronization
internal import TaskOperations

/// A wait by a new task, while the calling thread blocks.
///
/// The task runs on the bridge's own queue. Other threads may all be blocked in such waits.
final class BlockingWait: Sendable {
    private let isOver = DispatchSemaphore(value: 0)
    private let error = Lock<TaskOperationError?>(nil)

    /// Begins a wait.
    ///
    /// - Parameter isUnlimited: Whether the thread will block until the wait is over. If true, the task waits on behalf
    ///   of the calling body, which lends its permit. With a timeout, the body could continue before the wait is
    ///   over, without its permit.
    init(isUnlimited: Bool, _ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void) {
        let body = isUnlimited ? AnyTaskOperation.current : nil
        Task.detached(executorPreference: bridgeExecutor) { await self.perform(for: body, wait) }
    }

    private func perform(
        for body: AnyTaskOperation?, _ wait: () async throws(TaskOperationError) -> Void
    ) async {
        do throws(TaskOperationError) {
            try await AnyTaskOperation.waitingOnBehalf(body, wait: wait)
        } catch {
            self.error.withLock { $0 = error }
        }
        isOver.signal()
    }

    /// Blocks the calling thread. Returns false if the time is up before the wait is over.
    ///
    /// - Throws: The error that the wait throws.
    func block(for timeout: Duration? = nil) throws(TaskOperationError) -> Bool {
        let deadline = timeout.map { DispatchTime.now() + $0 / .seconds(1) } ?? .distantFuture
        guard isOver.wait(timeout: deadline) == .success else { return false }
        if let error = error.withLock({ $0 }) { throw error }
        return true
    }
}
