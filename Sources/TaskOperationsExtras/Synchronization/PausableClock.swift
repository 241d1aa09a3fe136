import Synchronization

// In a controlled build, `ContinuousClock` is a type of this module.
#if TASK_OPERATIONS_EXPLORED
    public import TaskOperations
#else
    import TaskOperations
#endif

/// A clock that can be paused. Its time does not change during a pause.
///
/// With the option `.clock(_:)`, the clock measures the time of an operation. After a pause of the clock, timeouts, delays
/// and pauses between attempts continue with the rest of their time.
///
/// ```swift
/// let (clock, queue) = (PausableClock(), TaskOperationQueue(name: "uploads"))
/// queue.addOperation([.timeout(.seconds(120)), .retry(policy), .clock(clock)]) {
///     for part in photo.parts {
///         try await clock.waitWhilePaused()
///         try await upload(part)
///     }
/// }
///
/// func setPaused(_ isPaused: Bool) {
///     queue.isSuspended = isPaused  // no operation starts
///     clock.isPaused = isPaused     // no time limit passes, no pause between attempts ends, and no part begins
/// }
/// ```
///
/// An attempt begins with the first part again. To repeat only the part that has failed, call
/// `retrying(policy, clock: clock) { try await upload(part) }` in the loop, instead of the option `.retry(_:)`.
public final class PausableClock: Clock {
    /// An instant of the clock is that of a `ContinuousClock`, earlier by the sum of all pauses.
    public typealias Instant = ContinuousClock.Instant

    private struct State: Sendable {
        /// The sum of the pauses that are over.
        var pausedTime = Duration.zero
        /// The beginning of the present pause; nil if the clock runs.
        var pausedSince: Instant?
        /// The sleeps whose time was over during the present pause.
        var waiting = WaitingList<WaitContinuation<Void>>()
        var lastNumber = 0
    }

    private let state = Lock(State())

    /// Creates a clock that runs.
    public init() {}

    /// Whether the clock is paused. Any thread can set this property.
    public var isPaused: Bool {
        get { state.withLock { $0.pausedSince != nil } }
        set {
            let waiting = state.withLock { state -> [WaitContinuation<Void>] in
                if newValue == (state.pausedSince != nil) { return [] }
                let now = ContinuousClock.now
                guard let since = state.pausedSince.take() else {
                    state.pausedSince = now
                    return []
                }
                state.pausedTime += now - since
                return state.waiting.removeAll()
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    /// The present instant.
    public var now: Instant {
        state.withLock { ($0.pausedSince ?? .now).advanced(by: .zero - $0.pausedTime) }
    }

    /// The smallest time between two instants.
    public var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Sleeps until an instant of the clock.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, also while the clock is paused.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        while true {
            try Task.checkCancellation()
            let rest = now.duration(to: deadline)
            if rest <= .zero { return }
            // A pause does not lengthen a sleep of the system, which then ends before the deadline.
            if isPaused { await waitForEndOfPause() } else { try await Task.sleep(for: rest, tolerance: tolerance) }
        }
    }

    /// Waits until the clock runs. Call this in a body before each part of its work.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func waitWhilePaused() async throws {
        while isPaused, !Task.isCancelled { await waitForEndOfPause() }
        try Task.checkCancellation()
    }

    private func waitForEndOfPause() async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withCancellableWait { (continuation: WaitContinuation<Void>) in
            let mustWait = state.withLock { state in
                if state.pausedSince != nil { state.waiting.append(continuation, number: number) }
                return state.pausedSince != nil
            }
            if !mustWait { continuation.resume() }
        } end: {
            state.withLock { $0.waiting.remove(number) }?.resume()
        }
    }
}
