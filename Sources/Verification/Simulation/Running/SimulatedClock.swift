import TaskOperations

/// A clock whose time changes only when the simulation advances it. The library waits for its deadlines on the executor
/// of the simulation, so a program with rates, delays or timeouts is repeatable, too.
package final class SimulatedClock: Clock, ExecutorBoundClock {
    /// An instant, as the time since the clock's beginning.
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The last possible instant if the sum exceeds it.
        package func advanced(by duration: Duration) -> Self {
            let (sum, overflows) = offset.attoseconds.addingReportingOverflow(duration.attoseconds)
            return Self(offset: Duration(attoseconds: overflows ? .max : sum))
        }

        package func duration(to other: Self) -> Duration { other.offset - offset }

        package static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private typealias Sleeper = (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)

    private struct State: Sendable {
        var now = Instant()
        var lastNumber = 0
        /// The sleeping tasks, by the number of their call.
        var sleepers: [Int: Sleeper] = [:]
    }

    private let state = Lock(State())

    /// The executor on which the library waits for deadlines of this clock.
    package let sleepExecutor: (any TaskExecutor)?

    /// Creates a clock whose time is zero.
    ///
    /// - Parameter executor: The executor of the simulation.
    package init(on executor: SeededExecutor) {
        sleepExecutor = executor
    }

    package var now: Instant { state.withLock { $0.now } }

    package var minimumResolution: Duration { .zero }

    /// The earliest deadline of a sleeping task; nil if no task sleeps. Linear in the number of sleeping tasks.
    package var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Advances the time, and wakes all tasks whose deadlines have passed: earlier deadlines first, and equal deadlines
    /// in the order in which the sleeps began. Linear in the number of sleeping tasks.
    package func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in awake { sleeper.continuation.resume() }
    }

    /// Waits until the clock reaches an instant.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if deadline <= state.now { return true }
                    state.sleepers[number] = (deadline, continuation)
                    return false
                }
                if isOver { return continuation.resume() }
                // A cancellation before the sleep began has woken no task.
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
    }

    private func wake(_ number: Int) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
