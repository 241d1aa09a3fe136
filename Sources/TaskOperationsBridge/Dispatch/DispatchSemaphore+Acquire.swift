public import Dispatch

extension DispatchSemaphore {
    /// Takes a permit when one is free, without blocking the calling thread. This is the async form of `wait()`.
    ///
    /// Dispatch can wait for a semaphore only by blocking a thread. So one thread blocks for all tasks that wait for
    /// the same semaphore. The thread stops waiting within a second after the last task has stopped waiting.
    ///
    /// Waiting tasks receive permits in the order of arrival. If threads also block in `wait()`, Dispatch decides
    /// whether a task or a thread receives the next permit. If only new code uses the semaphore, use `AsyncSemaphore`,
    /// which needs no thread.
    ///
    /// - Throws: `CancellationError` if the task is cancelled during the wait. No permit is taken then.
    public func acquire() async throws(CancellationError) {
        _ = try await SemaphoreLine.acquire(self, timeout: nil)
    }

    /// Takes a permit if one becomes free before the time is up.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: `.success` if a permit was taken.
    /// - Throws: `CancellationError` if the task is cancelled during the wait. No permit is taken then.
    public func acquire(timeout: DispatchTime) async throws(CancellationError) -> DispatchTimeoutResult {
        try await SemaphoreLine.acquire(self, timeout: timeout)
    }

    /// Takes a permit, calls a function, and returns the permit. The permit is also returned if the function throws.
    ///
    /// - Parameter body: The function to call with the permit.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws, or `CancellationError` if the task is cancelled while it waits for the
    ///   permit.
    public func withPermit<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await acquire()
        defer { signal() }
        return try await body()
    }
}
