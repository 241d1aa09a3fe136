/// A value that only one thread at a time can access. Threads can wait for its changes.
package final class Monitor<Value: Sendable>: @unchecked Sendable {
    // Every access to `value` holds `lock`.
    private let lock = SystemLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }

    /// Wakes one waiting thread, if there is one. Call it with the lock released.
    package func wakeOne() { lock.wakeOne() }

    /// Wakes all waiting threads. Call it with the lock released.
    package func wakeAll() { lock.wakeAll() }

    /// Blocks the thread until `attempt` returns a value other than nil.
    ///
    /// - Parameters:
    ///   - limit: The longest time to block; nil for no limit.
    ///   - attempt: Called under the lock: first at the beginning, then each time the thread is woken, and last when
    ///     the time is over. In the last call, `isLate` is true.
    /// - Returns: The result of `attempt`; nil if it returned nil when the time was over.
    package func wait<Result: Sendable>(
        for limit: Duration?, until attempt: (inout Value, _ isLate: Bool) -> Result?
    ) -> Result? {
        let deadline = limit.map { ContinuousClock.now + min($0, .seconds(1_000_000_000)) }
        lock.lock()
        defer { lock.unlock() }
        var isLate = false
        while true {
            if let result = attempt(&value, isLate) { return result }
            if isLate { return nil }
            guard let deadline else {
                lock.wait()
                continue
            }
            let rest = deadline - .now
            if rest > .zero { lock.wait(for: rest) }
            isLate = deadline <= .now
        }
    }
}
