public import Dispatch

extension DispatchSemaphore {
    /// Takes a permit as soon as there is one, without blocking the calling thread: the async form of `wait()`.
    ///
    /// Dispatch can wait for a semaphore only by blocking, so one thread does that for all tasks that wait for the
    /// same semaphore; it ends within a second after the last of them went on. Tasks are served in the order of
    /// arrival; among them and threads that block in `wait()`, Dispatch decides. Where the semaphore belongs to new
    /// code alone, use `AsyncSemaphore`, which needs no thread.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it has the permit. It has none then.
    public func acquire() async throws(CancellationError) {
        _ = try await SemaphoreLine.acquire(self, timeout: nil)
    }

    /// Takes a permit, unless there is none until the time is up.
    ///
    /// - Parameter timeout: When to stop waiting.
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
