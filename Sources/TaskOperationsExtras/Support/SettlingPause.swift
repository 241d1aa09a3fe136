import Synchronization
import TaskOperations

/// A pause before the start of an operation, which depends on `end`. The pause can begin again, and end early.
///
/// The operation is on its queue during the pause. So the queue counts and cancels it, and waits for it when it is shut
/// down. All pauses on one clock share the sleeping task of the library's deadlines.
final class SettlingPause: Sendable {
    private struct State: Sendable {
        /// The number of times that the pause has begun. Timers of earlier beginnings have no effect.
        var beginCount = 0
        var timer: HandlerTimer?
        /// Ends the pause at its longest length.
        var limit: HandlerTimer?
        var isOver = false

        func isCurrent(_ number: Int) -> Bool { !isOver && beginCount == number }
    }

    /// The dependency that ends with the pause.
    let end: TaskOperation<Void> = .placeholder(name: "settling")
    private let longest: Duration?
    private let whenOver: @Sendable () -> Void
    private let state = Lock(State())

    private init(atMost longest: Duration?, whenOver: @escaping @Sendable () -> Void) {
        self.longest = longest
        self.whenOver = whenOver
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Creates a pause that has not begun. Returns nil if its duration, or its longest length, is not positive.
    ///
    /// - Parameters:
    ///   - longest: The time from the first beginning to the end, however often the pause begins again; nil for no limit.
    ///   - whenOver: Called once at the end, before the operation can start, with no lock held.
    // An initialiser would create the dependency before it fails, which takes a third of the instructions of a request.
    static func make(
        of duration: Duration, atMost longest: Duration? = nil, whenOver: @escaping @Sendable () -> Void = {}
    ) -> SettlingPause? {
        if let longest, longest <= .zero { return nil }
        return duration > .zero ? SettlingPause(atMost: longest, whenOver: whenOver) : nil
    }

    /// Begins the pause, or begins it again. Does nothing and returns false after the end. Takes O(log *n*) time for *n*
    /// pauses.
    @discardableResult
    func begin(_ pause: Duration, clock: any Clock<Duration>) -> Bool {
        let (number, isOver) = state.withLock { state in
            if !state.isOver { state.beginCount += 1 }
            return (state.beginCount, state.isOver)
        }
        if isOver { return false }
        let timer = HandlerTimer { self.pass(number) }
        let limit = number == 1 ? longest.map { _ in HandlerTimer { self.finish() } } : nil
        let (isCurrent, former) = state.withLock { state in
            if state.isOver { return (false, nil as HandlerTimer?) }
            if let limit { state.limit = limit }
            if state.beginCount != number { return (false, nil) }
            defer { state.timer = timer }
            return (true, state.timer)
        }
        former?.end()
        if isCurrent { timer.start(pause, clock: clock) }
        if let limit, let longest { limit.start(longest, clock: clock) }
        // If the pause ended, or another thread began it again, before these timers started, nothing else ends them.
        let (isOutdated, hasEnded) = state.withLock { (!$0.isCurrent(number), $0.isOver) }
        if isOutdated { timer.end() }
        if hasEnded { limit?.end() }
        return true
    }

    /// Ends the pause, so that the operation can start.
    func finish() { end { !$0.isOver } }

    private func pass(_ number: Int) { end { $0.isCurrent(number) } }

    private func end(if condition: (State) -> Bool) {
        let (timer, limit, isFirst) = state.withLock { state in
            if !condition(state) { return (nil as HandlerTimer?, nil as HandlerTimer?, false) }
            state.isOver = true
            return (state.timer.take(), state.limit.take(), true)
        }
        if !isFirst { return }
        whenOver()
        end.finishExternally()
        timer?.end()
        limit?.end()
    }
}

extension [AnyTaskOperation] {
    /// The dependencies of an operation that starts after a pause, if there is one.
    func and(_ pause: SettlingPause?) -> [AnyTaskOperation] { pause.map { self + [$0.end] } ?? self }
}
