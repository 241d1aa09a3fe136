import Synchronization
import TaskOperations

/// A clock that moves only when a test advances it. Tests that use it need not wait.
///
/// ```swift
/// let clock = ManualClock()
/// let operation = queue.addOperation { try await clock.sleep(for: .seconds(60)) }
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(60))
/// try await operation.value
/// ```
public final class ManualClock: Clock, Identifiable {
    /// An instant of the clock, as the time since the clock's beginning.
    public struct Instant: InstantProtocol {
        /// The time since the clock's beginning.
        public var offset: Duration

        /// Creates an instant at a time after the clock's beginning.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is later by a duration, or the last possible instant if the result would exceed it.
        public func advanced(by duration: Duration) -> Self {
            let (sum, overflows) = offset.attoseconds.addingReportingOverflow(duration.attoseconds)
            return Self(offset: Duration(attoseconds: overflows ? (duration < .zero ? .min : .max) : sum))
        }

        /// Returns the duration from this instant to another one, or the longest duration if the result would exceed
        /// it.
        public func duration(to other: Self) -> Duration {
            let (difference, overflows) = other.offset.attoseconds.subtractingReportingOverflow(offset.attoseconds)
            return Duration(attoseconds: overflows ? (other < self ? .min : .max) : difference)
        }

        /// Whether one instant is before another.
        public static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        let number: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        var calls = 0
        /// The sleeping tasks, sorted by deadline and then by number.
        var sleepers: [Sleeper] = []
        /// The numbers of calls that were cancelled before they slept.
        var cancelled: Set<Int> = []
    }

    private let state = Lock(State())
    private let arrivals = Gate()

    /// Creates a clock whose time is zero.
    public init() {}

    /// The current instant of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock can advance by any duration.
    public var minimumResolution: Duration { .zero }

    /// The number of sleeping tasks. If the clock measures a delay, a rate or a limit of time, the number includes a task of
    /// the library. If queues have rates, there is one more such task for each priority of their next operations.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until `sleep` was called the given number of times in total, or until the task is cancelled. A counted
    /// call either sleeps or has returned.
    ///
    /// Pauses between attempts count, like the sleeps of bodies. Delays, rates and limits do not count: the library
    /// measures them from the instant at which they are set, so a test can advance the clock at once.
    public func waitForSleepers(_ count: Int) async {
        await arrivals.waitForArrivals(count)
    }

    /// Advances the clock, and wakes all tasks whose deadlines have passed: earlier deadlines first, and equal
    /// deadlines in the order in which the sleeps began. Linear in the number of sleeping tasks.
    ///
    /// - Parameter duration: Not negative.
    public func advance(by duration: Duration) {
        require(duration >= .zero, "duration is \(duration); it must not be negative.")
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.prefix { $0.deadline <= state.now }
            state.sleepers.removeFirst(due.count)
            return Array(due)
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    /// Waits until the clock reaches an instant. Linear in the number of sleeping tasks.
    ///
    /// - Parameters:
    ///   - deadline: The instant.
    ///   - tolerance: Not used.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                fallAsleep(Sleeper(number: number, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            wake(number)
        }
    }

    private func fallAsleep(_ sleeper: Sleeper) {
        let result = state.withLock { state -> Result<Void, any Error>? in
            if state.cancelled.contains(sleeper.number) { return .failure(CancellationError()) }
            if sleeper.deadline <= state.now { return .success(()) }
            let place = state.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(sleeper, at: place)
            return nil
        }
        if !DeadlineSleep.isCurrent { arrivals.countArrival() }
        if let result { sleeper.continuation.resume(with: result) }
    }

    /// Wakes the task of a cancelled call.
    private func wake(_ number: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let place = state.sleepers.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.sleepers.remove(at: place)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
