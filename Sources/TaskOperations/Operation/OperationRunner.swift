/// The task in which bodies execute, for cancellation and escalation.
///
/// It uses the task's own reference to itself, which exists when the first body begins. The handle that the creation of the
/// task returns can be available much later: waiting for it doubled the time from adding an operation to its start.
///
/// It is a class instead of a protocol, because an operation has no space for the second pointer of an existential: see
/// `Outcome`. A worker is a runner itself, and not an owner of one, to need one object only.
class OperationRunner: @unchecked Sendable {
    // Every access to the state holds the lock. Other threads only cancel and escalate the task, between `begin` and `end`,
    // which the task itself calls: it waits for them before it ends.
    private struct State: Sendable {
        var task: RunningTask?
        /// The error that cancelled the task first.
        var cancellationCause: (any Error)?
        /// The number of threads that currently use the task.
        var users = 0
        /// The continuation of the task itself, which has no more work and waits for the last of these threads.
        var leaving: WaitContinuation<Void>?
    }

    /// The task's reference to itself, uncounted: see `State`.
    ///
    /// An `UnsafeCurrentTask` is one reference to the task, but the compiler does not know its layout. It would copy
    /// and destroy the state through value witness tables. This took a twentieth of the cost of an operation on an
    /// idle queue.
    private struct RunningTask: @unchecked Sendable {
        private let reference: UnsafeRawPointer

        init(_ task: UnsafeCurrentTask) { reference = unsafeBitCast(task, to: UnsafeRawPointer.self) }

        var task: UnsafeCurrentTask { unsafeBitCast(reference, to: UnsafeCurrentTask.self) }
    }

    private let state = Lock(State())

    /// The binding in which the task that runs the body finds the current operation. That task writes it before each
    /// body. Tasks that began within the body read it under the lock of an operation that has this runner.
    nonisolated(unsafe) var binding = BodyBinding.none

    /// The calling task begins to run bodies: other threads can reach it until it calls `end`.
    @inline(never)  // As `escalate`.
    func begin() {
        let task = withUnsafeCurrentTask { RunningTask($0!) }
        state.withLock { $0.task = task }
    }

    /// The error that cancelled the task; nil if nothing has. A runner that was cancelled runs no other body.
    var cancellationCause: (any Error)? { state.withLock { $0.cancellationCause } }

    /// Cancels the task, and with it the waits of the body. The cause is stored before, so that a cancelled body can read it.
    func cancel(throwing cause: any Error = CancellationError()) {
        state.withLock { if $0.cancellationCause == nil { $0.cancellationCause = cause } }
        use { $0.cancel() }
    }

    /// Raises the priority of the task.
    // Not inlined: if the compiler does not know the size of a temporary, an async function allocates it separately
    // and in advance.
    @inline(never)
    func escalate(to level: PriorityLevel) {
        use { $0.escalateIfAvailable(to: level.taskPriority) }
    }

    /// Performs an action on the task, which does not end during the action. Does nothing if the task has already
    /// ended.
    private func use(_ action: (UnsafeCurrentTask) -> Void) {
        let running = state.withLock { state in
            if state.task != nil { state.users += 1 }
            return state.task
        }
        guard let running else { return }
        action(running.task)
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

/// Distinguishes a body and its child tasks from unstructured tasks that have only inherited the body's task locals.
///
/// A child task looks up task locals in its parent, so it finds the binding of the body, at the same address. An
/// unstructured task has copies of the bindings, at other addresses.
struct BodyBinding: Equatable, @unchecked Sendable {
    // The address is only compared.
    private let address: UnsafeMutableRawPointer?

    /// The binding in which the calling task finds the current operation.
    static var current: BodyBinding {
        BodyBinding(address: taskLocalValue(Unmanaged.passUnretained(AnyTaskOperation.$executing).toOpaque()))
    }

    /// The binding of a task that has no current operation.
    static let none = BodyBinding(address: nil)
}

/// The place of a task local's value in the calling task, by the address of its `TaskLocal`: an entry point of the
/// runtime, which inlined code of the standard library calls in every program, so that it is part of its ABI.
@_silgen_name("swift_task_localValueGet")
private func taskLocalValue(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer?
