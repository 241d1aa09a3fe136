internal import TaskOperations

/// Counts the bodies that execute at once, and records the maximum.
package final class ConcurrencyMeter: Sendable {
    private struct Count: Sendable {
        var now = 0
        var most = 0
        var total = 0
    }

    private let count = Lock(Count())

    /// Creates a meter.
    package init() {}

    /// Counts a piece of work as executing for the duration of its call.
    package func measure<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        enter()
        defer { leave() }
        return try await work()
    }

    /// Counts one more body as executing.
    package func enter() {
        count.withLock { count in
            count.now += 1
            count.total += 1
            count.most = max(count.most, count.now)
        }
    }

    /// Counts one body less as executing.
    package func leave() {
        count.withLock { $0.now -= 1 }
    }

    /// The number of bodies that are executing.
    package var now: Int { count.withLock { $0.now } }

    /// The maximum number of bodies that executed at once.
    package var most: Int { count.withLock { $0.most } }

    /// The total number of counted bodies.
    package var total: Int { count.withLock { $0.total } }
}
