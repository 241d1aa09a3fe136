import Synchronization
import TaskOperations

/// Blocks tasks until a test opens the gate. Use it instead of a sleep.
///
/// ```swift
/// let gate = Gate()
/// let operation = queue.addOperation { await gate.pass() }
/// await gate.waitForArrivals(1)  // the body has started, and waits at the gate
/// gate.open()
/// ```
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var arrivals = 0
        var held: [CheckedContinuation<Void, Never>] = []
        /// The tasks that wait for a number of arrivals, by that number.
        var watchers: [Int: [Watcher]] = [:]
        var lastWatcher = 0

        /// Counts an arrival, and returns the watchers that waited for it.
        mutating func arrive() -> [Watcher] {
            arrivals += 1
            return watchers.removeValue(forKey: arrivals) ?? []
        }

        mutating func removeWatcher(_ number: Int, of count: Int) -> Watcher? {
            guard let index = watchers[count]?.firstIndex(where: { $0.number == number }) else { return nil }
            let watcher = watchers[count]!.remove(at: index)
            if watchers[count]!.isEmpty { watchers[count] = nil }
            return watcher
        }
    }

    private struct Watcher: Sendable {
        let number: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Lock(State())

    /// Creates a closed gate.
    public init() {}

    /// Waits until the gate is open. Cancellation does not end the wait.
    public func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, arrived) = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return (state.isOpen, state.arrive())
            }
            for watcher in arrived { watcher.continuation.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Counts an arrival without waiting.
    func countArrival() {
        for watcher in state.withLock({ $0.arrive() }) { watcher.continuation.resume() }
    }

    /// Resumes all waiting tasks. Later tasks pass without waiting.
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

    /// The number of calls of `pass()`.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until `pass()` was called the given number of times, or the task is cancelled.
    public func waitForArrivals(_ count: Int) async {
        let number = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    if count <= state.arrivals { return false }
                    state.watchers[count, default: []].append(Watcher(number: number, continuation: continuation))
                    return true
                }
                if !mustWait { return continuation.resume() }
                // A cancellation before the registration found no watcher.
                if Task.isCancelled { removeWatcher(number, of: count) }
            }
        } onCancel: {
            removeWatcher(number, of: count)
        }
    }

    private func removeWatcher(_ number: Int, of count: Int) {
        state.withLock { $0.removeWatcher(number, of: count) }?.continuation.resume()
    }
}
