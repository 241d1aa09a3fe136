/// Keeps executors that run jobs inline, in the call of `enqueue`, from overflowing the stack.
///
/// Starting a worker or resuming a task runs it right there on such an executor, and at its end more is started and
/// resumed, and so on. Up to a depth that does no harm that is left as it is, as a body may count on it: one that blocks
/// its thread until another one has run. Beyond, it is put off until the innermost of these calls has returned.
enum InlineJobs {
    /// The calls that are on the stack of one thread, in a variable of the outermost.
    struct Calls {
        fileprivate var depth = 0
        fileprivate var putOff: [Step] = []
        /// The worker that is being started by the innermost of them.
        fileprivate var starting: ObjectIdentifier?
    }

    fileprivate enum Step {
        case resume(CheckedContinuation<Void, Never>)
        /// A task awaited the end of an operation, which has come.
        case end(CheckedContinuation<Bool, Never>)
        case start(Worker, any TaskExecutor)
    }

    private static var depthLimit: Int { 16 }

    static func resume(_ continuations: [CheckedContinuation<Void, Never>]) {
        for continuation in continuations { carryOut(.resume(continuation)) }
    }

    static func end(_ continuation: CheckedContinuation<Bool, Never>) { carryOut(.end(continuation)) }

    static func start(_ worker: Worker, on executor: any TaskExecutor) {
        carryOut(.start(worker, executor))
    }

    /// Whether a worker that begins does so within the call that starts it.
    static func isStarting(_ worker: Worker) -> Bool {
        CurrentCalls.calls?.pointee.starting == ObjectIdentifier(worker)
    }

    private static func carryOut(_ step: Step) {
        if let calls = CurrentCalls.calls {
            if calls.pointee.depth < depthLimit { call(step, calls) } else { calls.pointee.putOff.append(step) }
            return
        }
        var calls = Calls()
        withUnsafeMutablePointer(to: &calls) { calls in
            CurrentCalls.calls = calls
            call(step, calls)
            CurrentCalls.calls = nil
        }
    }

    private static func call(_ step: Step, _ calls: UnsafeMutablePointer<Calls>) {
        calls.pointee.depth += 1
        call(step, within: calls)
        while !calls.pointee.putOff.isEmpty {
            let steps = calls.pointee.putOff
            calls.pointee.putOff = []
            for step in steps { call(step, within: calls) }
        }
        calls.pointee.depth -= 1
    }

    private static func call(_ step: Step, within calls: UnsafeMutablePointer<Calls>) {
        switch step {
        case .resume(let continuation):
            continuation.resume()
        case .end(let continuation):
            continuation.resume(returning: true)
        case .start(let worker, let executor):
            let outer = calls.pointee.starting
            calls.pointee.starting = ObjectIdentifier(worker)
            worker.start(on: executor)
            calls.pointee.starting = outer
        }
    }
}
