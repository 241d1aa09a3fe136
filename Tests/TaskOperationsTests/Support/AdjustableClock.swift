import TaskOperations
import TaskOperationsTesting

/// A clock that can be set to another time. Its sleeps measure their lengths when they begin, as the sleeps of most
/// clocks of a calendar do.
final class AdjustableClock: Clock {
    typealias Instant = ManualClock.Instant

    private let base = ManualClock()
    private let offset = Lock(Duration.zero)

    var now: Instant { base.now.advanced(by: offset.withLock { $0 }) }
    var minimumResolution: Duration { .zero }
    var sleeperCount: Int { base.sleeperCount }

    /// Lets time pass.
    func advance(by duration: Duration) { base.advance(by: duration) }

    /// Sets the clock to another time. No time passes.
    func set(by duration: Duration) { offset.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: base.now.advanced(by: now.duration(to: deadline)), tolerance: tolerance)
    }
}
