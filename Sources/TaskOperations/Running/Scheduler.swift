import Synchronization

/// The engine of a queue: its state is isolated to it, and it carries out what that decides.
///
/// It is entered from any thread without waiting (see `apply`), so that adding, cancelling and changing take effect
/// before the call returns. Nothing is carried out while it is entered: events leave an outbox, which comes after.
///
/// New operations go into a mailbox, and every caller drains it as soon as it has entered. So nobody sees a state without
/// them, and a thread that adds enters only if nobody else is about to.
///
/// Lock order: an operation's lock may be taken while the scheduler is entered, never the other way round.
actor Scheduler: OperationHost {
    typealias Continuation = WaitContinuation<Void>
    typealias State = SchedulerState<AnyTaskOperation, Continuation>

    /// Where bodies run.
    enum Place: Sendable {
        case pool
        case executor(any TaskExecutor)
        case mainActor
    }

    // In front, away from the mailbox, which others write while workers look whether a run is open.
    nonisolated let run = ReadyRing()
    nonisolated let identity: QueueIdentity
    nonisolated let place: Place
    nonisolated let taskLocals: [InheritedTaskLocal]
    /// Makes the workers of a scope's queue; nil if the queue outlives every scope.
    nonisolated let scopeWorkers: ScopeWorkers?
    /// Says when a worker lets others run; nil if time does.
    nonisolated let sliceDecider: (any SliceDecidingExecutor)?
    nonisolated let lock = SchedulerLock()
    nonisolated let mailbox = Mailbox()
    /// Whether a body awaits that the queue is empty, or has since it last was.
    nonisolated let isAwaitedByBodies = Atomic(false)
    /// The rank of the end of all operations, which is above them; `Int.max` if it is not awaited.
    nonisolated let end = Rank(.max)
    /// What an operation waits for that has no permit.
    nonisolated let permit: PermitNode?
    /// What a rate and ageing are measured by; nil if there are none.
    nonisolated let clock: QueueClock?
    nonisolated let hasRate: Bool
    /// Whether a newcomer may make another operation give way.
    nonisolated let dropsPending: Bool
    /// Set for good when a barrier is added.
    nonisolated let hasHadBarriers = Atomic(false)
    /// Whether anything learns of changes.
    nonisolated let isObserved = Atomic(false)
    /// What happens to operations, on its way to listeners.
    nonisolated let changeLog = ChangeLog()
    /// What is done around each body.
    nonisolated let surroundings = BodySurroundings()
    // Written once, before any other thread can know the scheduler. Loaded with no lock held: the load may return what
    // becomes the last reference, and releasing that enters the scheduler.
    nonisolated(unsafe) private(set) weak var owner: AnyObject?

    // Isolated state is not checked for overlapping accesses while running: whoever is entered is alone, and an event
    // calls nothing that could come back to it. The checks took a tenth of an empty operation.

    @exclusivity(unchecked) var state: State
    @exclusivity(unchecked) var runNotes = ReadyRing.Notes()
    /// The scheduler itself, as long as it has operations, which do not count it.
    @exclusivity(unchecked) private var keptAlive: Scheduler?
    /// What learns of the number of operations, if anything does.
    @exclusivity(unchecked) var countListener: (any ChangeListener)?
    /// When operations started that execute, as far as anything learned of that.
    @exclusivity(unchecked) var startTimes: [UInt64: Moment] = [:]
    /// All that learns of changes.
    @exclusivity(unchecked) var listeners: [ObjectIdentifier] = []
    /// What is suspended with the queue.
    @exclusivity(unchecked) var followers: [any SuspensionFollower] = []
    /// How many bodies await that the queue is empty.
    @exclusivity(unchecked) var awaitingBodyCount = 0
    /// The semaphores that are limits of operations.
    @exclusivity(unchecked) var limits = QueueLimits()

    init(
        queueName: String?, width: Int, policies: QueuePolicies = QueuePolicies(), place: Place, isSuspended: Bool,
        taskLocals: [InheritedTaskLocal], permit: PermitNode? = PermitNode(.lendable),
        scopeWorkers: ScopeWorkers? = nil, clock: QueueClock? = nil
    ) {
        self.clock = clock
        hasRate = policies.rate != nil
        identity = QueueIdentity(name: queueName)
        self.scopeWorkers = scopeWorkers
        self.permit = permit
        self.place = place
        dropsPending = policies.overflow.drops
        self.taskLocals = taskLocals
        if case .executor(let executor as any SliceDecidingExecutor) = place {
            sliceDecider = executor
        } else {
            sliceDecider = nil
        }
        state = State(width: width, isSuspended: isSuspended, policies: policies, workerLimit: processorCount)
    }

    nonisolated var queueName: String? { identity.name }

    /// A number that no other queue of the process has or had.
    nonisolated var queueNumber: Int { identity.number }

    /// Names the object that owns the queue. To be called by its initialiser only.
    nonisolated func setOwner(_ owner: AnyObject) {
        self.owner = owner
    }
}

// MARK: - Entering

extension Scheduler {
    /// Enters, applies an event, leaves, and carries out what follows.
    ///
    /// An event that captures something costs an allocation; `input` is for what is called often.
    @inline(__always)
    nonisolated func apply<Input: ~Copyable, Result: Sendable>(
        to input: inout Input, _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        var departure = Departure()
        let result = enter(with: &input, &departure, event)
        if departure.outbox != nil { carryOut(departure.outbox!) }
        return result
    }

    @inline(__always)
    nonisolated func apply<Input, Result: Sendable>(
        _ input: Input, _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        var input = input
        return apply(to: &input, event)
    }

    @inline(__always)
    nonisolated func apply<Result: Sendable>(_ event: @escaping @Sendable (isolated Scheduler) -> Result) -> Result {
        var none: Void = ()
        return apply(to: &none) { scheduler, _ in event(scheduler) }
    }

    /// Enters for something that is no event: nothing is taken in, and nothing follows.
    @inline(__always)
    nonisolated func look<Input: ~Copyable, Result: Sendable>(
        with input: inout Input, _ look: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        lock.withLock { isolated(&input, look) }
    }

    /// Enters, applies an event, and leaves. What follows has yet to be carried out.
    @inline(__always)
    nonisolated func enter<Input: ~Copyable, Result: Sendable>(
        with input: inout Input, _ departure: inout Departure,
        _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        enter(with: &input, &departure, unless: { _, _ in false }, event)!
    }

    /// As `enter`, unless a look at the input says first that no event is needed. Returns nil then.
    @inline(__always)
    nonisolated func enter<Input: ~Copyable, Result: Sendable>(
        with input: inout Input, _ departure: inout Departure,
        unless isSpared: @escaping (isolated Scheduler, inout Input) -> Bool,
        _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result? {
        // The clock is the user's.
        if let clock { departure.reading = clock.read() }
        let result = lock.withLock { () -> Result? in
            if isolated(&input, isSpared) { return nil }
            isolated(&departure) { scheduler, departure in scheduler.begin(&departure) }
            let result = isolated(&input, event)
            isolated(&departure) { scheduler, departure in scheduler.leave(&departure) }
            return result
        }
        if let effects = departure.semaphoreEffects.take() { effects.carryOut() }
        return result
    }

    /// What is left to do, and to let go of, after the scheduler is left.
    struct Departure {
        fileprivate var ended: [AnyTaskOperation] = []
        fileprivate var reading: QueueClock.Reading?
        fileprivate var semaphoreEffects: SemaphoreEffects?
        var outbox: State.Outbox?
    }

    /// Calls what is isolated to the scheduler.
    ///
    /// The lock that is held is the proof that this is right: it is what the scheduler's executor takes to run anything.
    /// `assumeIsolated` would have that looked up by the runtime, and needs closures on the heap, which together cost
    /// some 1,000 instructions; so only debug builds check that it is held.
    @inline(__always)
    private nonisolated func isolated<Input: ~Copyable, Result>(
        _ input: inout Input, _ event: @escaping (isolated Scheduler, inout Input) -> Result
    ) -> Result {
        lock.checkHeld()
        return unsafeBitCast(event, to: ((Scheduler, inout Input) -> Result).self)(self, &input)
    }

    /// First of all, what workers did meanwhile is done to the state, and what was added meanwhile is taken in.
    private func begin(_ departure: inout Departure) {
        if let reading = departure.reading { clock!.tell(reading, to: &state) }
        closeRun(&departure.ended)
        takeMail()
    }

    /// Decides what follows from the state as it is now.
    private func leave(_ departure: inout Departure) {
        repeat {
            admitProducers()
            if limits.isInUse { updateLimits() }
            settleState()
            if limits.isInUse { declineOffers() }
            openRun()
        } while takeLateMail(&departure.ended)
        if state.isEmpty {
            if awaitingBodyCount == 0, isAwaited { forgetAwaiting() }
            // Not the last reference: the caller has one.
            if keptAlive != nil { keptAlive = nil }
        } else if keptAlive == nil {
            keptAlive = self
        }
        if limits.isInUse { departure.semaphoreEffects = takeSemaphoreEffects() }
        state.handOver(to: &departure.outbox)
        if departure.outbox?.hasChanges == true { logChanges() }
    }

    func settleState() {
        state.settle { $0.permitWasReturned() }
    }

    /// Adds operations that wait for room, as far as there is room.
    func admitProducers() {
        if state.room.producers.isEmpty { return }
        while let operation = state.nextAdmission() { insert(operation) }
    }

    func takeMail() {
        mailbox.empty { insert($0) }
    }

    /// Nothing waits for the end of all any more: its rank may rise again.
    private func forgetAwaiting() {
        end.set(.max)
        isAwaitedByBodies.store(false, ordering: .sequentiallyConsistent)
    }

    /// Says what is urgent now, and takes in what came before that was said. Returns whether anything did.
    private func takeLateMail(_ ended: inout [AnyTaskOperation]) -> Bool {
        guard mailbox.publish(state.urgency(offering: runNotes.level)) else { return false }
        closeRun(&ended)
        takeMail()
        return true
    }
}

// MARK: - Bodies

extension Scheduler {
    /// Whether nothing but the current operation has to be set for a body.
    nonisolated var runsPlainly: Bool { taskLocals.isEmpty && surroundings.isEmpty }

    nonisolated var handlerExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { (executor as? any HandlerExecutor)?.handlerExecutor } else { nil }
    }

    /// Runs a body with the queue's task locals and interceptors, in the place of the queue.
    nonisolated func run(_ operation: AnyTaskOperation, on runner: OperationRunner) async -> Outcome? {
        await operation.withTaskLocals { await runSurrounded(operation, on: runner) }
    }

    /// Runs a body in the place of the queue.
    nonisolated func runUnsurrounded(_ operation: AnyTaskOperation, on runner: OperationRunner) async -> Outcome? {
        if case .mainActor = place { await operation.runOnMainActor(runner) } else { await operation.run(on: runner) }
    }
}
