// Additional requirements for executors and clocks of this package.

/// An executor that provides another executor for the handlers of some operations.
///
/// These operations never started, or they ended before their bodies. By default, the cooperative pool runs such
/// handlers, because the queue's executor may be busy or not started yet. Tasks that await these operations continue
/// only after the handlers.
package protocol HandlerExecutor: TaskExecutor {
    var handlerExecutor: any TaskExecutor { get }
}

/// An executor that decides when a worker yields to other tasks. By default, a clock decides. The executor of a
/// repeatable run cannot use a clock.
package protocol SliceDecidingExecutor: TaskExecutor {
    /// Called after each body. Returns whether the worker must yield.
    func isSliceOver() -> Bool
}

/// A clock that chooses the executor of tasks that sleep until its deadlines. With such a clock, a seeded run stays on
/// one thread.
package protocol ExecutorBoundClock: Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var sleepExecutor: (any TaskExecutor)? { get }
}

/// Marks the library's own sleeps. A clock for tests does not count these sleeps.
package enum DeadlineSleep {
    /// True in a task that sleeps until a deadline of the library.
    @TaskLocal package static var isCurrent = false
}

extension Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var executorOfSleepers: (any TaskExecutor)? { (self as? any ExecutorBoundClock)?.sleepExecutor }
}

/// Returns the preferred executor of the calling task and its child tasks. Returns nil if the task has no preference,
/// or if the system does not provide this information.
package func preferredTaskExecutor() -> (any TaskExecutor)? {
    #if compiler(>=6.3)
        if #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) {
            return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        }
    #endif
    return nil
}

/// Prevents a stack overflow on executors that run jobs inline, within the call of `enqueue`.
///
/// On such an executor, a call that starts or resumes a task runs the task at once, on the same stack. That task may
/// start or resume further tasks, and so on. Nested calls are allowed up to a small depth, because a body may block its
/// thread until another body has run. At the maximum depth, a new call is deferred until the innermost call has
/// returned.
package enum InlineJobs {
    /// The state of the active calls on the stack of one thread. The outermost call owns this value.
    struct Calls {
        fileprivate var depth = 0
        fileprivate var putOff: [Step] = []
        /// The worker that the innermost call of `start` is starting.
        fileprivate var starting: ObjectIdentifier?
    }

    fileprivate enum Step {
        case resume(WaitContinuation<Void>)
        /// Resumes a task that awaits the end of an operation.
        case resumeWaiter(WaitContinuation<Bool>)
        case start(ObjectIdentifier, () -> Void)
    }

    private static let current = ThreadVariable<Calls>()

    private static var depthLimit: Int { 16 }

    package static func resume(_ continuation: WaitContinuation<Void>) {
        take(.resume(continuation))
    }

    /// Resumes a task that awaits the end of an operation.
    static func resumeWaiter(_ continuation: WaitContinuation<Bool>) {
        take(.resumeWaiter(continuation))
    }

    static func start(_ worker: ObjectIdentifier, _ start: @escaping () -> Void) {
        take(.start(worker, start))
    }

    /// Performs a step. At the maximum depth, defers the step instead.
    private static func take(_ step: Step) {
        withCalls { calls in
            if calls.pointee.depth < depthLimit {
                call(calls) { take(step, calls) }
            } else {
                calls.pointee.putOff.append(step)
            }
        }
    }

    private static func take(_ step: Step, _ calls: UnsafeMutablePointer<Calls>) {
        switch step {
        case .resume(let continuation): continuation.resume()
        case .resumeWaiter(let continuation): continuation.resume(returning: true)
        case .start(let worker, let start): self.start(worker, calls, start)
        }
    }

    /// Starts a worker within the call, even at the maximum depth. At that depth, the worker's own steps are deferred.
    static func startHere(_ worker: ObjectIdentifier, _ start: () -> Void) {
        withCalls { calls in call(calls) { self.start(worker, calls, start) } }
    }

    /// Whether a worker runs within the call that started it.
    static func isStarting(_ worker: ObjectIdentifier) -> Bool {
        current.pointer?.pointee.starting == worker
    }

    private static func withCalls(_ body: (UnsafeMutablePointer<Calls>) -> Void) {
        if let calls = current.pointer { return body(calls) }
        var calls = Calls()
        withUnsafeMutablePointer(to: &calls) { calls in
            current.pointer = calls
            body(calls)
            current.pointer = nil
        }
    }

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
