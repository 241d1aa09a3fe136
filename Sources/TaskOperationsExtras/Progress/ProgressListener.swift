import Synchronization
import TaskOperations

/// An object that has a progress, and notifies listeners when the progress changes.
protocol ProgressSource: AnyObject, Sendable {
    func add(_ listener: ProgressListener)
    func remove(_ listener: ProgressListener)
}

/// Waits for changes on behalf of a task. Several changes before the next call of `nextChange()` are one change.
package final class ProgressListener: Sendable {
    private struct State: Sendable {
        var hasChanged = true
        var isCancelled = false
        var waiter: WaitContinuation<Void>?
    }

    fileprivate let number = AnyTaskOperation.nextWaitNumber()
    private let state = Lock(State())

    package init() {}

    /// Reports that the progress has changed. The caller must hold no lock.
    package func wake() {
        wake { $0.hasChanged = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until the progress has changed since the last call. The first call returns at once. Returns false if the
    /// task is cancelled.
    ///
    /// - Parameter performWait: Called with the wait if the task must be suspended. Performs the wait.
    package func nextChange(performWait: (_ wait: () async -> Void) async -> Void = { await $0() }) async -> Bool {
        if Task.isCancelled { wake { $0.isCancelled = true } }
        let mustWait = state.withLock { !$0.hasChanged && !$0.isCancelled }
        if mustWait { await performWait { await wait() } }
        return state.withLock { state in
            state.hasChanged = false
            return !state.isCancelled
        }
    }

    private func wait() async {
        await withCancellableWait { (continuation: WaitContinuation<Void>) in
            let mustWait = state.withLock { state in
                if state.hasChanged || state.isCancelled { return false }
                state.waiter = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        } end: {
            wake { $0.isCancelled = true }
        }
    }
}

/// The listeners of a source, in the order of their creation.
///
/// Not a `WaitingList`: each use of a generic type of another module would look up its metadata, and a report would take
/// 80 times as long.
struct ProgressListeners: Sendable {
    /// All listeners, sorted by their numbers. The caller wakes them after unlocking.
    private(set) var all: [ProgressListener] = []

    mutating func add(_ listener: ProgressListener) { all.insert(listener, at: position(of: listener)) }

    /// Removes a listener, which the caller retains.
    mutating func remove(_ listener: ProgressListener) {
        let position = position(of: listener)
        if position < all.count, all[position] === listener { all.remove(at: position) }
    }

    /// The number of listeners with lower numbers.
    private func position(of listener: ProgressListener) -> Int {
        var range = all.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = all[middle].number < listener.number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
