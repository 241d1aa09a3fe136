@_spi(Lock) import TaskOperations

/// Holds tasks back until it is opened: what a test uses instead of a sleep.
///
/// ```swift
/// let gate = Gate()
/// let operation = queue.addOperation { await gate.pass() }
/// await gate.waitForArrivals(1)  // the body has started, and stands at the gate
/// gate.open()
/// ```
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Counts an arrival, and returns those who waited for it.
        mutating func arrive() -> [CheckedContinuation<Void, Never>] {
            arrivals += 1
            return arrivedWatchers()
        }

        mutating func arrivedWatchers() -> [CheckedContinuation<Void, Never>] {
            let arrived = watchers.filter { $0.count <= arrivals }.map(\.continuation)
            watchers.removeAll { $0.count <= arrivals }
            return arrived
        }
    }

    private let state = Lock(State())

    /// Makes a gate that is closed.
    public init() {}

    /// Waits until the gate is open. Cancellation does not end the wait.
    public func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, arrived) = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return (state.isOpen, state.arrive())
            }
            for watcher in arrived { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Counts an arrival of one that does not wait here.
    func countArrival() {
        let arrived = state.withLock { $0.arrive() }
        for watcher in arrived { watcher.resume() }
    }

    /// Lets everybody through who waits, and everybody who comes.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Whether `open()` was called.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// How many calls of `pass()` there were.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until `pass()` was called so many times.
    public func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let arrived = state.withLock { state in
                state.watchers.append((count, continuation))
                return state.arrivedWatchers()
            }
            for watcher in arrived { watcher.resume() }
        }
    }
}
