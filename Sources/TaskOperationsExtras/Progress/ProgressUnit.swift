import Synchronization
import TaskOperations

/// The progress of one operation. It is the fraction that the body reports. The progress of a group is the sum of its
/// operations.
final class ProgressUnit: ProgressSource {
    private struct State: Sendable {
        var own = OperationProgress.none
        var listeners = ProgressListeners()
        /// The sum of the group's operations, if the operation is a group.
        var parts: ProgressSum?
        /// The sum of the operation's queue, if this unit has joined it.
        var sum: ProgressSum?
    }

    private let state = Lock(State())

    var current: OperationProgress {
        let (own, parts) = state.withLock { ($0.own, $0.parts) }
        return own.isFinished ? own : parts?.current ?? own
    }

    func add(_ listener: ProgressListener) { state.withLock { $0.listeners.add(listener) } }

    func remove(_ listener: ProgressListener) { state.withLock { $0.listeners.remove(listener) } }

    func setParts(_ parts: ProgressSum) {
        state.withLock { $0.parts = parts }
    }

    func report(_ progress: OperationProgress) {
        wakeListeners { if !$0.own.isFinished { $0.own = progress } }?.changed()
    }

    func changed() { wakeListeners()?.changed() }

    /// Wakes the listeners. Returns the sum that contains this progress.
    func wakeListeners() -> ProgressSum? { wakeListeners { _ in } }

    private func wakeListeners(after change: (inout State) -> Void) -> ProgressSum? {
        let (listeners, sum) = state.withLock { state in
            change(&state)
            return (state.listeners.all, state.sum)
        }
        for listener in listeners { listener.wake() }
        return sum
    }

    /// Adds the unit to the sum of the operation's queue until the operation has finished.
    func join(_ sum: ProgressSum, for operation: AnyTaskOperation) {
        let isNew = state.withLock { state in
            if state.own.isFinished || state.sum != nil { return false }
            state.sum = sum
            return true
        }
        if isNew { sum.add(self, of: operation) }
    }

    /// Completes the progress after the end of the operation.
    func finish() {
        let last = current.finished
        state.withLock { $0.own = last }
        changed()
        // Frees both objects after unlocking.
        let (sum, parts) = state.withLock { ($0.sum.take(), $0.parts.take()) }
        sum?.remove(self)
        extendLifetime(parts)
    }
}
