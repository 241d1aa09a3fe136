public import Dispatch

extension DispatchSemaphore {
    /// Takes a permit when one is free, without blocking the calling thread. This is the async form of `wait()`.
    ///
    /// Dispatch can wait for a semaphore only by blocking. So one thread blocks for all tasks that wait for the same
    /// semaphore; it ends within a second after the last wait. Tasks are served in the order of arrival. Between these
    /// tasks and threads that block in `wait()`, Dispatch decides. If only new code uses the semaphore, use
    /// `AsyncSemaphore` instead, which needs no thread.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it has the permit. It has none then.
    public func acquire() async throws(CancellationError) {
        _ = try await SemaphoreLine.acquire(self, timeout: nil)
    }

    /// Takes a permit, if one becomes free before the time is up.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: Whether the permit was taken.
    /// - Throws: `CancellationError` if the task is cancelled before it has the permit. It has none then.
    public func acquire(timeout: DispatchTime) async throws(CancellationError) -> DispatchTimeoutResult {
        try await SemaphoreLine.acquire(self, timeout: timeout)
    }

    /// Calls a function with a permit, and returns the permit afterwards, even if the function throws.
    ///
    /// - Throws: The error that `body` throws, or `CancellationError` if the task is cancelled before it has the
    ///   permit.
    public func withPermit<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await acquire()
        defer { signal() }
        return try await body()
    }
}
