/// The workers of a scope: child tasks of the task that opened it, or of a child of that.
///
/// Only the task that owns a task group can add to it, and workers are asked for by whatever thread adds an operation. So
/// while the scope's task runs the user's code, a child of it makes them, in a group of its own. From the end of that
/// code on, the scope's task does so itself, and the child is the first worker if it has made none: a scope of one
/// operation needs no other child.
///
/// Workers inherit what child tasks do: task locals, cancellation and escalation of the task that opened the scope. They
/// see the task locals as these were when it was opened, which is why the scope's task makes none while the user's code
/// may have bound others.
final class ScopeWorkers: Sendable {
    fileprivate struct State: Sendable {
        /// Workers that are asked for.
        var requested: [Worker] = []
        /// The scope's task makes them from now on.
        var isHandedOver = false
        /// No more will be asked for.
        var isOver = false
        var child = Child.isComing
        /// The task that makes workers, if it has nothing to do.
        var waiting: Continuation?
    }

    /// The child before its first request.
    fileprivate enum Child: Sendable {
        /// It will look at what is asked for.
        case isComing
        case waits(Continuation)
        /// It makes workers, is one, or has left.
        case hasDecided
    }

    fileprivate typealias Continuation = WaitContinuation<Void>

    /// The name of child tasks without an executor of their own.
    ///
    /// Nil if the calling task prefers an executor: a child task with a name would not inherit that preference. See
    /// the article Platforms, section "Names of tasks".
    let childName: String?

    private let state = Lock(State())

    /// Creates the workers of a scope that the calling task opens.
    init(queueName: String?) {
        childName = queueName.flatMap { name in withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil ? name : nil } }
    }

    /// Asks for a worker, which begins as soon as it is made.
    func start(_ worker: Worker) {
        let (child, maker) = state.withLock { state in
            state.requested.append(worker)
            return (state.takeChild(), state.takeMaker())
        }
        // If the child is resumed right here, it is as if the worker was.
        if let child { InlineJobs.start(ObjectIdentifier(worker)) { child.resume() } }
        if let maker { InlineJobs.resume(maker) }
    }

    /// Lets `serve` return. No worker may be asked for afterwards.
    func end() {
        let (child, maker) = state.withLock { state in
            state.isOver = true
            return (state.takeChild(), state.waiting.take())
        }
        if let child { InlineJobs.resume(child) }
        if let maker { InlineJobs.resume(maker) }
    }
}

// MARK: - The child

extension ScopeWorkers {
    /// Adds the child to the group of the scope's task.
    ///
    /// It runs here until it waits, if the system can have it so: to wake a thread for that would be a third of what a
    /// scope of one operation costs.
    func addChild(to group: inout DiscardingTaskGroup) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) {
            group.addImmediateTask(name: childName) { await self.serveBody() }
        } else {
            group.addTask(name: childName) { await self.serveBody() }
        }
    }

    /// Makes workers as they are asked for, until the scope's task does; or is one.
    private func serveBody() async {
        await waitForRequest()
        let level = PriorityLevel(Task.currentPriority)
        switch state.withLock({ $0.decide(at: level) }) {
        case .leave(let maker):
            if let maker { InlineJobs.resume(maker) }
        case .work(let worker):
            await worker.run()
        case .make:
            await withDiscardingTaskGroup { group in
                while let workers = await next(isScope: false) {
                    for worker in workers { worker.start(in: &group) }
                }
            }
        }
    }

    // Inlined, as the other async functions below: their frames would be a fiftieth of a scope of one operation.
    @inline(__always)
    private func waitForRequest() async {
        await withWaitContinuation { continuation in
            let mustWait = state.withLock { state in
                if state.isOver || !state.requested.isEmpty { return false }
                state.child = .waits(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// What the child does.
    fileprivate enum Decision {
        case make
        case work(Worker)
        /// If the scope's task waits, and is to go on, it is given.
        case leave(Continuation?)
    }
}

extension ScopeWorkers.State {
    /// The child, if it waits for a request, to be resumed.
    fileprivate mutating func takeChild() -> ScopeWorkers.Continuation? {
        guard case .waits(let continuation) = child else { return nil }
        child = .isComing
        return continuation
    }

    /// The task that makes workers, if it waits and has something to do, to be resumed.
    fileprivate mutating func takeMaker() -> ScopeWorkers.Continuation? {
        requested.count > countForChild ? waiting.take() : nil
    }

    /// How many of the requests are left to the child.
    private var countForChild: Int {
        if case .isComing = child { 1 } else { 0 }
    }

    /// Called by the child, once there is a request, or will be none.
    fileprivate mutating func decide(at level: PriorityLevel) -> ScopeWorkers.Decision {
        child = .hasDecided
        if !isHandedOver, !requested.isEmpty { return .make }
        guard let worker = requested.first, worker.canRun(at: level) else { return .leave(takeMaker()) }
        requested.removeFirst()
        return .work(worker)
    }

    /// What the task has to do that makes workers.
    fileprivate func step(isScope: Bool) -> ScopeWorkers.Step {
        if !isScope, isHandedOver { return .leave }
        let count = requested.count - (isScope ? countForChild : 0)
        if count > 0 { return .make(count) }
        return isOver ? .leave : .wait
    }
}

// MARK: - Making workers

extension ScopeWorkers {
    fileprivate enum Step {
        /// So many, the last ones that were asked for.
        case make(Int)
        case leave
        case wait
    }

    /// Makes workers as they are asked for, until the end, as children of the scope's task.
    func serve(in group: inout DiscardingTaskGroup) async {
        let maker = state.withLock { state in
            state.isHandedOver = true
            return state.waiting.take()
        }
        if let maker { InlineJobs.resume(maker) }
        while let workers = await next(isScope: true) {
            for worker in workers { worker.start(in: &group) }
        }
    }

    /// What is asked for, once anything is; nil if there is nothing to do for the caller any more.
    @inline(__always)
    private func next(isScope: Bool) async -> [Worker]? {
        while true {
            let (step, workers) = state.withLock { state in
                let step = state.step(isScope: isScope)
                guard case .make(let count) = step else { return (step, [Worker]()) }
                defer { state.requested.removeLast(count) }
                return (step, Array(state.requested.suffix(count)))
            }
            switch step {
            case .make: return workers
            case .leave: return nil
            case .wait: await wait(isScope: isScope)
            }
        }
    }

    @inline(__always)
    private func wait(isScope: Bool) async {
        await withWaitContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard case .wait = state.step(isScope: isScope) else { return false }
                state.waiting = continuation
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }
}
