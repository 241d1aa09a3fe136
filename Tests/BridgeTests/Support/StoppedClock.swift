import TaskOperations
import TaskOperationsTesting

/// A clock that only moves when it is told to.
final class StoppedClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }

        func duration(to other: Self) -> Duration { other.offset - offset }

        static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private struct State: Sendable {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var sleeps = 0
    }

    private let state = Lock(State())
    private let arrivals = Gate()

    var now: Instant { state.withLock { $0.now } }

    var minimumResolution: Duration { .zero }

    /// How many sleep now.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until so many calls of `sleep` were made.
    func waitForSleepers(_ count: Int) async {
        await arrivals.waitForArrivals(count)
    }

    func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now.offset += duration
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.sleeps += 1
            return state.sleeps
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.contains(number) { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[number] = (deadline, continuation)
                    return nil
                }
                Task { await arrivals.pass() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
