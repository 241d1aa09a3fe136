/// Prevents a stack overflow on executors that run jobs inline, within the call of `enqueue`.
///
/// On such an executor, a worker that is started, or a task that is resumed, runs within the call. At its end, it
/// starts and resumes others within its own call, and so on. Up to a harmless depth this is allowed, because a body may
/// block its thread until another body has run. Beyond that depth, the step is deferred until the innermost of these
/// calls has returned.
package enum InlineJobs {
    /// The calls that are active on the stack of one thread. The outermost call stores this value in a variable.
    struct Calls {
        fileprivate var depth = 0
        fileprivate var putOff: [Step] = []
        /// The worker that the innermost call is starting.
        fileprivate var starting: ObjectIdentifier?
    }

    fileprivate enum Step {
        case resume(WaitContinuation<Void>)
        /// Resumes a task that awaited the end of an operation.
        case end(WaitContinuation<Bool>)
        case start(ObjectIdentifier, () -> Void)
    }

    private static let current = ThreadVariable<Calls>()

    private static var depthLimit: Int { 16 }

    package static func resume(_ continuation: WaitContinuation<Void>) {
        take(.resume(continuation))
    }

    static func end(_ continuation: WaitContinuation<Bool>) {
        take(.end(continuation))
    }

    /// Starts a worker.
    static func start(_ worker: ObjectIdentifier, _ start: @escaping () -> Void) {
        take(.start(worker, start))
    }

    /// Performs a step now, or defers it.
    @inline(__always)
    private static func take(_ step: Step) {
        withCalls { calls in
            if calls.pointee.depth < depthLimit {
                call(calls) { take(step, calls) }
            } else {
                calls.pointee.putOff.append(step)
            }
        }
    }

    @inline(__always)
    private static func take(_ step: Step, _ calls: UnsafeMutablePointer<Calls>) {
        switch step {
        case .resume(let continuation): continuation.resume()
        case .end(let continuation): continuation.resume(returning: true)
        case .start(let worker, let start): self.start(worker, calls, start)
        }
    }

    /// Starts a worker within the call, at any depth. The worker's task does not extend the stack of other calls.
    static func startHere(_ worker: ObjectIdentifier, _ start: () -> Void) {
        withCalls { calls in call(calls) { self.start(worker, calls, start) } }
    }

    /// Whether a worker begins within the call that starts it.
    static func isStarting(_ worker: ObjectIdentifier) -> Bool {
        current.pointer?.pointee.starting == worker
    }

    @inline(__always)
    private static func withCalls(_ body: (UnsafeMutablePointer<Calls>) -> Void) {
        if let calls = current.pointer { return body(calls) }
        var calls = Calls()
        withUnsafeMutablePointer(to: &calls) { calls in
            current.pointer = calls
            body(calls)
            current.pointer = nil
        }
    }

    @inline(__always)
    private static func call(_ calls: UnsafeMutablePointer<Calls>, _ step: () -> Void) {
        calls.pointee.depth += 1
        step()
        if !calls.pointee.putOff.isEmpty { callPutOff(calls) }
        calls.pointee.depth -= 1
    }

    private static func callPutOff(_ calls: UnsafeMutablePointer<Calls>) {
        while !calls.pointee.putOff.isEmpty {
            let steps = calls.pointee.putOff
            calls.pointee.putOff = []
            for step in steps { take(step, calls) }
        }
    }

    private static func start(
        _ worker: ObjectIdentifier, _ calls: UnsafeMutablePointer<Calls>, _ start: () -> Void
    ) {
        let outer = calls.pointee.starting
        calls.pointee.starting = worker
        start()
        calls.pointee.starting = outer
    }
}
