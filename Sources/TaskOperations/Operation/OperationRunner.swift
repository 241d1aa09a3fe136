internal import CTaskOperations
import Synchronization

/// Cancels and escalates the task in which bodies execute.
///
/// The runner uses the task's reference to itself, which is available when the first body begins. The handle that the
/// task's creation returns may be available much later. Waiting for that handle doubled the time from the addition of
/// an operation to its start.
///
/// The runner is a class and not a protocol, because an operation has no space for the second pointer of an
/// existential. See `Outcome`. A worker inherits from this class, so that it needs only one object.
class OperationRunner: @unchecked Sendable {
    // Every access to the state holds the lock. Other threads only cancel and escalate the task. They do so after
    // `begin` and before `end`, which the task itself calls. The task waits for these threads before it ends.
    private struct State: Sendable {
        /// Whether other threads may use the task.
        var isRunning = false
        /// The cause of the first cancellation of the task.
        var cancellationCause: (any Error)?
        /// The number of threads that currently use the task.
        var users = 0
        /// The continuation of the task itself. Nil unless the task has no more work and waits until no thread uses it.
        var leaving: WaitContinuation<Void>?
    }

    private let state = Lock(State())

    /// The task's reference to itself. It is no part of the state, because the compiler does not know its layout:
    /// copies of the state would go through value witness tables.
    // The task writes it before `isRunning` is true for the first time. Other threads read it while they count as
    // users. The reference outlives the closure that obtains it, but not the task. The asynchronous form of the
    // function, whose closure would contain all bodies, takes 900 instructions for each worker.
    @exclusivity(unchecked) nonisolated(unsafe) private var task: UnsafeCurrentTask?

    /// The binding through which the body's task finds the current operation. The task writes this property before each
    /// body. Tasks that began within the body read the property under the lock of an operation that has this runner.
    nonisolated(unsafe) var binding = BodyBinding.none

    /// Stores the calling task, which then begins to run bodies. Other threads can use the task until it calls `end`.
    @inline(never)  // Like `escalate`.
    func begin() {
        withUnsafeCurrentTask { task = $0 }
        state.withLock { $0.isRunning = true }
    }

    /// The cause of the task's cancellation; nil if the task was not cancelled. A cancelled runner runs no other body.
    var cancellationCause: (any Error)? { state.withLock { $0.cancellationCause } }

    /// Cancels the task and the waits of its body. Stores the cause before the cancellation, so that a cancelled body
    /// can read the cause.
    func cancel(throwing cause: any Error = CancellationError()) {
        state.withLock { if $0.cancellationCause == nil { $0.cancellationCause = cause } }
        use { $0.cancel() }
    }

    /// Raises the priority of the task.
    // Not inlined. The compiler does not know the size of a temporary here. In an async function, it would allocate
    // this temporary separately and in advance.
    @inline(never)
    func escalate(to level: PriorityLevel) {
        use { $0.escalateIfAvailable(to: level.taskPriority) }
    }

    /// Performs an action on the task, which does not end during the action. Does nothing if the task has already
    /// ended.
    private func use(_ action: (UnsafeCurrentTask) -> Void) {
        let isRunning = state.withLock { state in
            if state.isRunning { state.users += 1 }
            return state.isRunning
        }
        if !isRunning { return }
        action(task!)
        let leaving = state.withLock { state in
            state.users -= 1
            return state.users == 0 ? state.leaving.take() : nil
        }
        leaving?.resume()
    }

    /// Prevents other threads from beginning to use the task. Returns true if a thread still uses the task, which must
    /// then call `waitUntilUnused`.
    func end() -> Bool {
        state.withLock { state in
            state.isRunning = false
            return state.users > 0
        }
    }

    /// Waits for the threads that still use the task.
    @inline(never)
    func waitUntilUnused() async {
        await withWaitContinuation { continuation in
            let isUsed = state.withLock { state in
                if state.users > 0 { state.leaving = continuation }
                return state.users > 0
            }
            if !isUsed { continuation.resume() }
        }
    }
}

/// Distinguishes a body and its child tasks from unstructured tasks that have only inherited the task locals of the
/// body.
///
/// A child task looks up task locals in its parent. It therefore finds the binding of the body, at the same address. An
/// unstructured task has copies of the bindings, at other addresses. If the runtime does not tell addresses, all
/// bindings are equal. An unstructured task of a body then counts as the body until the body ends.
struct BodyBinding: Equatable, @unchecked Sendable {
    // The address is only compared, never dereferenced.
    private let address: UnsafeMutableRawPointer?

    /// The binding through which the calling task finds the current operation.
    static var current: BodyBinding {
        BodyBinding(
            address: taskOperationsTaskLocalValue(
                Unmanaged.passUnretained(AnyTaskOperation.$executing).toOpaque()))
    }

    /// The binding of a task that has no current operation.
    static let none = BodyBinding(address: nil)
}
