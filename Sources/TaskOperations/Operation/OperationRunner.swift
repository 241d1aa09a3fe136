/// The task in which bodies execute, for cancellation and escalation.
///
/// It uses the task's own reference to itself, which exists when the first body begins. The handle that the creation of the
/// task returns can be available much later: waiting for it doubled the time from adding an operation to its start.
///
/// It is a class instead of a protocol, because an operation has no space for the second pointer of an existential: see
/// `Outcome`.
final class OperationRunner: Sendable {
    // Every access holds the lock. Other threads only cancel and escalate the task, between `begin` and `end`, which the task
    // itself calls: it waits for them before it ends.
    private struct State: @unchecked Sendable {
        var task: UnsafeCurrentTask?
        /// The error that cancelled the task first.
        var cancellationCause: (any Error)?
        /// The number of threads that currently use the task.
        var users = 0
        /// The continuation of the task itself, which has no more work and waits for the last of these threads.
        var leaving: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    /// The binding in which the task that runs the body finds the current operation. That task writes it before each
    /// body. Tasks that began within the body read it under the lock of an operation that has this runner.
    nonisolated(unsafe) var binding = BodyBinding.none

    /// The calling task begins to run bodies: other threads can reach it until it calls `end`.
    func begin() {
        withUnsafeCurrentTask { task in
            let wrapped = State(task: task)
            state.withLock { $0 = wrapped }
        }
    }

    /// The error that cancelled the task; nil if nothing has. A runner that was cancelled runs no other body.
    var cancellationCause: (any Error)? { state.withLock { $0.cancellationCause } }

    /// Cancels the task, and with it the waits of the body. The cause is stored before, so that a cancelled body can read it.
    func cancel(throwing cause: any Error = CancellationError()) {
        state.withLock { if $0.cancellationCause == nil { $0.cancellationCause = cause } }
        use { $0.cancel() }
    }

    /// Raises the priority of the task.
    func escalate(to level: PriorityLevel) {
        use { $0.escalateIfAvailable(to: level.taskPriority) }
    }

    /// Performs an action on the task, which does not end during the action. Does nothing if the task has already
    /// ended.
    private func use(_ action: (UnsafeCurrentTask) -> Void) {
        let current = state.withLock { state in
            if state.task != nil { state.users += 1 }
            return State(task: state.task)
        }
        guard let task = current.task else { return }
        action(task)
        let leaving = state.withLock { state in
            state.users -= 1
            return state.users == 0 ? state.leaving.take() : nil
        }
        leaving?.resume()
    }

    /// Prevents other threads from using the task. Returns true if some still use it: the task must wait for them.
    func end() -> Bool {
        state.withLock { state in
            state.task = nil
            return state.users > 0
        }
    }

    /// Waits for the threads that still use the task.
    func waitUntilUnused() async {
        await withCheckedContinuation { continuation in
            let isUsed = state.withLock { state in
                if state.users > 0 { state.leaving = continuation }
                return state.users > 0
            }
            if !isUsed { continuation.resume() }
        }
    }
}
