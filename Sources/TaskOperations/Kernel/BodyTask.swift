internal import CTaskOperations
import Synchronization

/// The task in which bodies execute. Other threads cancel and escalate it, and it knows which operation is the current
/// one.
///
/// This object uses the task's reference to itself, which is available when the first body begins. The handle that the
/// task's creation returns may be available much later: Cost, row 11.
///
/// A worker inherits from this class, so that it needs only one object.
class BodyTask: @unchecked Sendable {
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

    /// The task's reference to itself, as an address: the compiler does not know the layout of an `UnsafeCurrentTask`, and
    /// copies it through value witness tables. 0 before the first body.
    // The task writes it before `isRunning` is true for the first time. Other threads read it while they count as
    // users. The reference is not counted. It outlives the closure that obtains it, but not the task. The closure of the
    // asynchronous form would contain all bodies: Cost, row 12.
    @exclusivity(unchecked) nonisolated(unsafe) private var task: UInt = 0

    /// The operation whose body runs in the task. Between bodies, the operation whose body opened the scope of the task;
    /// nil if there is none.
    // The creator of the task writes this property before the task begins. Afterwards, only the task writes it, while it
    // has no child task. Only the task and its child tasks read it: see `currentOperation`. The reference is not counted:
    // a worker retains an operation until its body has returned, and a scope ends within the body that opened it.
    @exclusivity(unchecked) nonisolated(unsafe) var operation: Unmanaged<AnyTaskOperation>?

    /// The address of the task local through which the task and its child tasks find this object. It is only compared.
    /// 0 if no task has run a function with this object yet, or if the runtime cannot look up task locals.
    // The task writes this property before another task can find the object.
    @exclusivity(unchecked) nonisolated(unsafe) private var binding: UInt = 0

    /// Stores the calling task, which then begins to run bodies. Other threads can use the task until it calls `end`.
    @inline(never)  // Like `escalate`.
    func begin() {
        // The type contains one pointer.
        withUnsafeCurrentTask { task = unsafeBitCast($0!, to: UInt.self) }
        state.withLock { $0.isRunning = true }
    }

    /// The cause of the task's cancellation; nil if the task was not cancelled. A cancelled task runs no other body.
    var cancellationCause: (any Error)? { state.withLock { $0.cancellationCause } }

    /// Cancels the task and the waits of its body. Stores the cause before the cancellation, so that a cancelled body
    /// can read the cause.
    func cancel(throwing cause: any Error = CancellationError()) {
        state.withLock { if $0.cancellationCause == nil { $0.cancellationCause = cause } }
        use { $0.cancel() }
    }

    /// The address of the task, which only identifies the task; nil before its first body and after its last one.
    var taskAddress: UInt? { state.withLock { $0.isRunning ? task : nil } }

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
        action(unsafeBitCast(task, to: UnsafeCurrentTask.self))
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

// MARK: - The current operation

extension BodyTask {
    /// The object of the calling task, or of its nearest parent task that has one. An unstructured task has a copy of
    /// the value of its creator.
    @TaskLocal fileprivate static var inherited: BodyTask?

    /// False if the calling task certainly does not belong to a body.
    static var mayBeBody: Bool { inherited != nil }

    /// The operation whose body runs in the calling task or in one of its parent tasks; otherwise nil.
    ///
    /// A child task looks up task locals in its parent, and therefore finds the same binding as the task. An
    /// unstructured task has a copy at another address. After the task has ended, a copy of the copy can have the old
    /// address, and its task then finds no operation.
    static var currentOperation: AnyTaskOperation? {
        guard let task = inherited else { return nil }
        return task.binding != 0 && task.binding == currentBinding ? task.operation?.takeUnretainedValue() : nil
    }

    /// The address of the task local through which the calling task finds its object.
    private static var currentBinding: UInt {
        UInt(bitPattern: taskOperationsTaskLocalValue(Unmanaged.passUnretained($inherited).toOpaque()))
    }

    /// Lets the calling task and its new child tasks find this object while a function runs.
    ///
    /// Like `withValue`, the function has a parameter for its isolation. The compiler then knows that both isolations
    /// are the same, and omits two of four executor checks.
    @inline(__always)
    func whileFound<Result>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async -> Result
    ) async -> Result {
        await Self.$inherited.withValue(
            self,
            operation: {
                _ = isolation  // A closure that does not use `isolation` would leave the actor.
                binding = Self.currentBinding
                let result = await work()
                // A copy of a copy must find no operation: see `currentOperation`.
                operation = nil
                return result
            }, isolation: isolation)
    }

    /// Makes an operation the current one while its body runs in the task.
    @inline(__always)
    func withCurrent<Result>(_ current: AnyTaskOperation, _ body: () async -> Result) async -> Result {
        let outer = operation
        operation = .passUnretained(current)
        let result = await body()
        operation = outer
        return result
    }
}
