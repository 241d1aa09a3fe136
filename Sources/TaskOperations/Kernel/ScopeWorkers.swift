import Synchronization

/// Creates the workers of a scope. They are child tasks of the task that opened the scope, or of its first child task.
///
/// Only the task that owns a task group can add to it, but any thread that adds an operation can request a worker.
/// While the scope's task runs the user's code, its first child creates the workers, in a group of its own. After that
/// code, the scope's task creates them itself. If the first child has created none, it becomes the first worker, so a
/// scope of one operation needs no other child.
///
/// Workers inherit task locals, cancellation and escalation from the task that opened the scope, as child tasks do.
/// They have the values of task locals at the time when the scope was opened. For this reason, the scope's task creates
/// no workers during the user's code, which may bind other values.
final class ScopeWorkers: Sendable {
    fileprivate struct State: Sendable {
        /// The requested workers.
        var requested: [Worker] = []
        /// Whether the scope's task creates the workers now.
        var isHandedOver = false
        /// Whether no further worker will be requested.
        var isOver = false
        var child = Child.isComing
        /// The continuation of the task that creates workers, if the task waits for a request.
        var waiting: Continuation?
    }

    /// The state of the first child.
    fileprivate enum Child: Sendable {
        /// The child has not read the requests yet.
        case isComing
        case waits(Continuation)
        /// The child creates workers, is a worker, or has ended.
        case hasDecided
    }

    fileprivate typealias Continuation = WaitContinuation<Void>

    /// The name of child tasks without an executor of their own.
    ///
    /// Nil if the calling task prefers an executor: a child task with a name would not inherit that preference. See
    /// the article Platforms, section "Names of tasks".
    let childName: String?

    /// The operation whose body opened the scope; nil if there is none.
    // The reference is not counted, because the scope ends within the body. Afterwards no worker is requested.
    let openingBody: Unmanaged<AnyTaskOperation>?

    private let state = Lock(State())

    /// Creates the workers of a scope that the calling task opens.
    init(queueName: String?) {
        openingBody = AnyTaskOperation.current.map(Unmanaged.passUnretained)
        childName = queueName.flatMap { name in withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil ? name : nil } }
    }

    /// Requests a worker, which begins as soon as it is created.
    func start(_ worker: Worker) {
        worker.operation = openingBody
        let (child, maker) = state.withLock { state in
            state.requested.append(worker)
            return (state.takeChild(), state.takeMaker())
        }
        // A child that is resumed on this thread replaces the worker.
        if let child { InlineJobs.start(ObjectIdentifier(worker)) { child.resume() } }
        if let maker { InlineJobs.resume(maker) }
    }

    /// Lets `serve` return. No worker may be requested afterwards.
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
    /// If the runtime supports it, the child runs within this call until it waits, so that no thread wakes for it: Cost,
    /// row 17.
    func addChild(to group: inout DiscardingTaskGroup) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) {
            group.addImmediateTask(name: childName) { await self.serveBody() }
        } else {
            group.addTask(name: childName) { await self.serveBody() }
        }
    }

    /// Creates the requested workers until the scope's task takes over, or becomes a worker.
    private func serveBody() async {
        await waitForRequest()
        let level = PriorityLevel(Task.currentPriority)
        switch state.withLock({ $0.decide(at: level) }) {
        case .leave(let maker, let unneeded):
            if let maker { InlineJobs.resume(maker) }
            extendLifetime(unneeded)
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

    // Inlined, like the other async functions below: Cost, row 18.
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

    /// The task of the child.
    fileprivate enum Decision {
        case make
        case work(Worker)
        /// End. Resume the scope's task if that task waits and has work; its continuation is nil otherwise. Release the
        /// workers that the scope does not need any more.
        case leave(Continuation?, unneeded: [Worker])
    }
}

extension ScopeWorkers.State {
    /// Returns the continuation of the child if the child waits for a request.
    fileprivate mutating func takeChild() -> ScopeWorkers.Continuation? {
        guard case .waits(let continuation) = child else { return nil }
        child = .isComing
        return continuation
    }

    /// Returns the continuation of the task that creates workers if the task waits and has work.
    fileprivate mutating func takeMaker() -> ScopeWorkers.Continuation? {
        requested.count > countForChild ? waiting.take() : nil
    }

    /// Removes the requests if the scope is over, because no task serves them then. A request that stayed would close a
    /// cycle of references: the worker retains its queue, and the queue retains this object.
    private mutating func takeUnneeded() -> [Worker] {
        if !isOver { return [] }
        defer { requested = [] }
        return requested
    }

    /// The number of requests that the child must serve.
    private var countForChild: Int {
        if case .isComing = child { 1 } else { 0 }
    }

    /// Decides the task of the child. Called when there is a request, or when none will follow.
    fileprivate mutating func decide(at level: PriorityLevel) -> ScopeWorkers.Decision {
        child = .hasDecided
        if !isHandedOver, !requested.isEmpty { return .make }
        guard let worker = requested.first, worker.canRun(at: level) else {
            return .leave(takeMaker(), unneeded: takeUnneeded())
        }
        requested.removeFirst()
        return .work(worker)
    }

    /// The next step of the task that creates workers.
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
        /// Create this number of workers from the end of the list of requests.
        case make(Int)
        case leave
        case wait
    }

    /// Creates the requested workers as children of the scope's task, until `end` is called.
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

    /// Waits for requests and returns them; nil if the caller has no more work.
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
