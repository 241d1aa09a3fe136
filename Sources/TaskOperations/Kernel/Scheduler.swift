internal import CTaskOperations
import Synchronization

/// Owns the state of a queue, and performs the effects that the state requests.
///
/// A lock serves as the actor's executor. Any thread may call `withCore` synchronously, so that adding, cancelling and
/// changing take effect before the call returns. Effects are performed after unlocking. An added operation that would
/// start no worker is only put into the inbox. The next event inserts it.
///
/// Lock order: the lock of an operation may be taken within `withCore`, never the other way round.
package actor Scheduler {
    typealias Continuation = WaitContinuation<Void>
    typealias State = SchedulerState<AnyTaskOperation, Continuation>

    /// Where bodies run.
    enum Place: Sendable {
        case pool
        case executor(any TaskExecutor)
        case mainActor
    }

    // The reference is far from `core`. Each event writes to `core`, so that reads of memory beside it often miss the
    // cache: Cost, row 1.
    private nonisolated let lock = ContendedLock()
    nonisolated let inbox = Inbox()
    nonisolated let identity: QueueIdentity
    nonisolated let place: Place
    package nonisolated let taskLocals: [InheritedTaskLocal]
    /// Creates the workers of a scope's queue; nil if the queue does not belong to a scope.
    nonisolated let scopeWorkers: ScopeWorkers?
    /// Decides when a worker yields to other tasks; nil if a clock decides.
    nonisolated let sliceDecider: (any SliceDecidingExecutor)?
    /// True if a body waits for the queue to empty, or has waited since the queue was last empty.
    nonisolated let isAwaitedByBodies = Atomic(false)
    /// The rank of the end of all operations. It is above the rank of each operation. `Int.max` if no body waits until
    /// the queue is empty.
    nonisolated let rankOfEnd = Rank(.max)
    /// The permits of the queue as a node of the wait graph; nil if operations of the queue never wait for a permit.
    nonisolated let permit: PermitNode?
    private nonisolated let rareClock = RareValue<QueueClock>()
    private nonisolated let makeClock: (@Sendable () -> QueueClock)?
    /// Whether an addition may drop another operation.
    nonisolated let dropsQueued: Bool
    /// True once a barrier was added.
    nonisolated let hasHadBarriers = Atomic(false)
    /// Whether there are observers or recorders.
    nonisolated let isObserved = Atomic(false)
    /// The interceptors of bodies, combined into one function.
    nonisolated let interceptor = RareValue<BodyInterceptor>()
    /// Options that complete the options of each operation; nil if the queue has no defaults.
    nonisolated let defaults: OperationOptions?
    /// The failures of operations, if a scope throws them.
    nonisolated let failures: FailureLog?
    // Written once, before another thread can have a reference to the scheduler. Read it with no lock held: the result
    // may become the last reference to the owner, and the owner's release locks the scheduler.
    @exclusivity(unchecked) nonisolated(unsafe) package private(set) weak var owner: TaskOperationQueue?

    // Every access holds `lock`, which `withCore` and `enqueue` take. No event calls `withCore` again.
    @exclusivity(unchecked) nonisolated(unsafe) private var core: SchedulerCore

    init(
        _ configuration: borrowing TaskOperationQueue.Configuration, place: Place, permit: PermitNode?,
        scopeWorkers: ScopeWorkers? = nil, failures: FailureLog? = nil
    ) {
        defaults = configuration.defaults.isEmpty ? nil : configuration.defaults
        self.failures = failures
        makeClock = QueueClock.maker(configuration.clock)
        identity = QueueIdentity(name: configuration.name)
        self.scopeWorkers = scopeWorkers
        self.permit = permit
        self.place = place
        dropsQueued = configuration.overflow.drops
        taskLocals = configuration.taskLocals
        if case .executor(let executor as any SliceDecidingExecutor) = place {
            sliceDecider = executor
        } else {
            sliceDecider = nil
        }
        core = SchedulerCore(State(configuration, workerLimit: processorCount))
        if configuration.rate != nil { prepareClock() }
    }

    /// The clock of the rate; nil if the queue never had a rate.
    nonisolated var clock: QueueClock? { rareClock.value }

    /// Makes the clock if the queue has none. Call it before the queue gets a rate.
    nonisolated func prepareClock() { QueueClock.prepare(rareClock, makeClock) }

    /// See `LimitClaimant`.
    nonisolated var readsClock: Bool { makeClock != nil }

    nonisolated var hasRate: Bool { clock != nil && withCore { $0.state.pace.hasRate } }

    /// Whether a barrier was ever added.
    nonisolated var hasBarriers: Bool { hasHadBarriers.load(ordering: .sequentiallyConsistent) }

    /// Whether a body waits for the queue to empty, or has waited since the queue was last empty.
    nonisolated var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    /// Whether bodies run in the cooperative pool.
    @inline(__always)
    nonisolated var isInPool: Bool { if case .pool = place { true } else { false } }

    nonisolated var queueName: String? { identity.name }

    /// A number that no other queue of the process has or had.
    package nonisolated var queueNumber: Int { identity.number }

    /// Sets the object that owns the queue. Only the initialiser of that object may call this.
    nonisolated func setOwner(_ owner: TaskOperationQueue) {
        self.owner = owner
    }
}

// MARK: - Events

extension Scheduler {
    /// Applies an event to the state, and performs its effects.
    @inline(__always)
    nonisolated func withCore<Result: Sendable>(_ event: (inout SchedulerCore) -> Result) -> Result {
        var effects = Effects()
        let result = withCore(&effects, event)
        if !effects.isEmpty { perform(effects) }
        return result
    }

    /// Applies an event to the state. The caller performs the effects.
    @inline(__always)
    nonisolated func withCore<Result: Sendable>(
        _ effects: inout Effects, _ event: (inout SchedulerCore) -> Result
    ) -> Result {
        // Read before locking, because the clock may be user code.
        let reading = clock?.read()
        return lock.withLock {
            if let reading { clock!.tell(reading, to: &core.state) }
            drainInbox(&core)
            let result = event(&core)
            computeEffects(&core, &effects)
            return result
        }
    }

    /// Applies an event to each of several schedulers, and then calls `body`, while all of them are locked. The locks
    /// are taken in a loop, because nested calls would overflow the stack if there are thousands of schedulers.
    ///
    /// - Parameter schedulers: The schedulers, without repetition, in the order of their numbers.
    nonisolated static func withCores<Result: Sendable>(
        of schedulers: [Scheduler], _ event: (Scheduler, inout SchedulerCore) -> Void, then body: () -> Result
    ) -> Result {
        // Read before locking, because the clocks may be user code.
        let readings = schedulers.map { $0.clock?.read() }
        var effects = [Effects](repeating: Effects(), count: schedulers.count)
        for (scheduler, reading) in zip(schedulers, readings) {
            scheduler.lock.lock()
            if let reading { scheduler.clock!.tell(reading, to: &scheduler.core.state) }
            scheduler.drainInbox(&scheduler.core)
            event(scheduler, &scheduler.core)
        }
        let result = body()
        for (index, scheduler) in schedulers.enumerated() {
            scheduler.computeEffects(&scheduler.core, &effects[index])
            scheduler.lock.unlock()
        }
        for (scheduler, effects) in zip(schedulers, effects) where !effects.isEmpty { scheduler.perform(effects) }
        return result
    }

    /// The effects of an event.
    struct Effects: Sendable {
        fileprivate var semaphores: SemaphoreEffects?
        fileprivate(set) var queueEffects: State.Effects?
        /// The log to deliver; nil if no change was recorded.
        fileprivate var eventLog: EventLog?
        /// Whether a recorder has begun another part, in which the state of all queues must be written once.
        fileprivate var isRecorderDue = false

        @inline(__always)
        var isEmpty: Bool { queueEffects == nil && semaphores == nil && !isRecorderDue }

        /// Removes the last claim of a queue that was served. Returns nil if the effects are more than such claims.
        mutating func takeLastServed() -> (claim: LimitClaim, scheduler: Scheduler)? {
            if queueEffects != nil || isRecorderDue { return nil }
            defer { if semaphores?.isEmpty ?? false { semaphores = nil } }
            return semaphores?.takeLastServed()
        }

        /// Removes the effects on semaphores, which the caller performs first.
        mutating func takeSemaphores() -> SemaphoreEffects { semaphores.take() ?? SemaphoreEffects() }

        /// Removes the operations whose floor may have changed, which the caller updates itself.
        mutating func takeFloorChanges() -> [AnyTaskOperation] { queueEffects?.takeFloorChanges() ?? [] }
    }

    // Not inlined, because each of 60 events would contain a copy.
    @inline(never)
    private nonisolated func computeEffects(_ core: inout SchedulerCore, _ effects: inout Effects) {
        // Threads may have added operations during the event, before it has ended others.
        drainInbox(&core)
        if !core.state.admission.producers.isEmpty { admitProducers(&core) }
        repeat {
            if core.limits == nil {
                core.state.computeEffects { $0.permitWasReturned() }
            } else {
                core.computeEffectsWithLimits(of: self)
            }
        } while updateInbox(&core)
        if core.limits != nil, let semaphores = core.takeSemaphoreEffects() { effects.semaphores = semaphores }
        if core.state.isEmpty {
            if core.awaitingBodyCount == 0, isAwaited { forgetAwaiting() }
            // This is not the last reference, because the caller has another.
            if core.keptAlive != nil { core.keptAlive = nil }
        } else if core.keptAlive == nil {
            core.keptAlive = self
        }
        if core.state.changes.recording?.write() ?? false {
            describeStaleQueue(&core)
            effects.isRecorderDue = true
        }
        if core.state.effects.isEmpty { return }
        if core.state.effects.hasChanges { effects.eventLog = logChanges(&core) }
        effects.queueEffects = core.state.takeEffects()
    }

    /// Adds operations that wait for room, as long as there is room.
    nonisolated func admitProducers(_ core: inout SchedulerCore) {
        while let operation = core.state.nextAdmission() { insert(operation, in: &core) }
    }

    /// Records that no body waits for the queue's end, whose rank may increase again.
    private nonisolated func forgetAwaiting() {
        rankOfEnd.set(.max)
        isAwaitedByBodies.store(false, ordering: .sequentiallyConsistent)
    }
}

// MARK: - Effects

extension Scheduler {
    /// Performs the effects of an event. Called with no lock held.
    // Not inlined: most events have no effects, but would need stack memory for all temporaries.
    @inline(never)
    nonisolated func perform(_ effects: Effects) {
        effects.semaphores?.perform()
        if effects.isRecorderDue { describeQueuesIfDue() }
        guard let queueEffects = effects.queueEffects else { return }
        if !queueEffects.floorChanges.isEmpty { Inheritance.updateFloors(of: queueEffects.floorChanges, in: self) }
        queueEffects.workers.forEach { Worker.start(for: self, level: $0) }
        for rejection in queueEffects.rejected { reject(rejection.element, rejection.reason) }
        for continuation in queueEffects.resumed { InlineJobs.resume(continuation) }
        if queueEffects.isOver { scopeWorkers?.end() }
        if let wake = queueEffects.wake { clock!.wake(self, wake, usesLevel: isInPool) }
        // Last, because an observer may be user code that takes long.
        effects.eventLog?.deliver()
    }

    /// Ends an operation that cannot start.
    private nonisolated func reject(_ operation: AnyTaskOperation, _ reason: State.Rejection.Reason) {
        let label = OperationLabel(operation)
        switch reason {
        case .cancelled: operation.cancel()
        case .shutDown: operation.endOrCancel(.queueShutDown(label, queueName: queueName))
        case .full: operation.endOrCancel(.queueFull(label, queueName: queueName))
        case .dropped: operation.endOrCancel(.dropped(label, queueName: queueName))
        case .late: operation.endLate()
        }
    }
}

extension AnyTaskOperation {
    fileprivate func endOrCancel(_ error: TaskOperationError) { endOrCancel(error, isCancellation: false) }
}

// MARK: - The executor

extension Scheduler: SerialExecutor {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Runs a job of the actor under the lock. There is none yet, because no function of the actor is isolated: callers take
    /// the lock in `withCore`.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The job may release the last reference to the actor, and the runtime does not retain its executor.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        lock.withLock {
            drainInbox(&core)
            job.runSynchronously(on: unownedExecutor)
        }
        withCore { _ in }
    }
}

// MARK: - Bodies

extension Scheduler {
    /// Whether an operation gets nothing from the queue when it is added.
    nonisolated var addsPlainly: Bool { defaults == nil && taskLocals.isEmpty }

    /// Whether bodies need no task locals of the queue and no interceptors.
    nonisolated var runsPlainly: Bool { taskLocals.isEmpty && interceptor.isEmpty }

    nonisolated var handlerExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { (executor as? any HandlerExecutor)?.handlerExecutor } else { nil }
    }
}

// MARK: - The name

/// The number and the name of a queue, for objects that must not retain the queue.
final class QueueIdentity: Sendable {
    /// A number that no other queue of the process has or had.
    let number = Rank.next()

    private let firstName: String?
    private let laterName = RareValue<String?>()

    init(name: String?) {
        firstName = name
    }

    var name: String? {
        get { laterName.value ?? firstName }
        set { laterName.set { _ in newValue } }
    }
}

/// A queue that follows the suspension of another queue.
struct SuspensionFollower: Sendable {
    /// Called after the suspension of the other queue has changed.
    let update: @Sendable () -> Void
}

/// The state of a queue that its lock protects.
struct SchedulerCore: ~Copyable, Sendable {
    var state: Scheduler.State
    /// The semaphores that are limits of operations; nil if there are none.
    var limits: QueueLimits?
    /// The number of bodies that wait for the queue to be empty.
    var awaitingBodyCount = 0
    /// The queues that follow the suspension of this queue.
    var followers = WaitingList<SuspensionFollower>()
    /// The scheduler whose suspension also suspends this queue; nil if there is none.
    var suspensionSource: Scheduler?
    /// Nil if the queue never had an observer.
    var observation: Boxed<QueueObservation>?
    /// Nil if the queue never had a recorder.
    var recording: QueueRecording?
    /// The scheduler itself while the queue has operations, because operations do not retain the scheduler.
    var keptAlive: Scheduler?
    /// The highest level for which the inbox is open; nil while the inbox is closed.
    var openInboxLevel: PriorityLevel?
    /// An empty array with memory for the inbox, instead of a new array at each event: Cost, row 2.
    var inboxMemory: [Inbox.Arrival] = []

    init(_ state: Scheduler.State) {
        self.state = state
    }
}

// MARK: - Operations of the queue

extension SchedulerCore {
    /// The operation's slot; nil if the operation is not in the queue.
    // Inlined: a call would copy the state of the queue, 400 bytes.
    @inline(__always)
    func slot(of operation: AnyTaskOperation) -> Int? {
        let slot = operation.slot
        return holds(operation, at: slot) ? slot : nil
    }

    @inline(__always)
    private func holds(_ operation: AnyTaskOperation, at slot: Int) -> Bool {
        slot >= 0 && state.rows.holds(slot) && state.rows[slot].element === operation
    }

    /// Removes an operation that has not started, and clears its slot in the same step.
    ///
    /// - Returns: Task locals for the caller to release after unlocking; nil if the operation has started or ended.
    mutating func withdraw(_ operation: AnyTaskOperation) -> [TaskLocalBinding]? {
        guard let slot = slot(of: operation), removeUnstarted(at: slot) else { return nil }
        return operation.leaveScheduler()
    }

    /// Removes an operation that has not started. If the operation has started, returns false and changes nothing.
    @discardableResult
    mutating func removeUnstarted(at slot: Int) -> Bool {
        switch state.rows[slot].status {
        case .waiting, .ready:
            state.remove(slot)
            return true
        case .executing, .lent, .returning:
            return false
        }
    }

    mutating func updateReadiness(of operation: AnyTaskOperation) {
        guard let slot = slot(of: operation) else { return }
        state.setReady(slot, operation.record.withLock { $0.mayStart } && operation.phase == .added)
    }

    /// The operations for which an operation waits because of barriers.
    mutating func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        guard let slot = slot(of: operation) else { return [] }
        state.indexArrivals()
        return state.elementsHoldingBack(slot)
    }
}

// MARK: - Operations without a queue

extension Scheduler {
    private struct OfRun: Sendable {
        weak let scheduler: Scheduler?
    }

    private static let ofProcess = makeWithoutQueue()
    private static let ofRuns = Lock<[UInt64: OfRun]>([:])

    /// The scheduler of operations that are started without a queue. Each run of an exploration has one of its own,
    /// because a worker of one run must not take an operation of another.
    static var withoutQueue: Scheduler {
        let run = taskOperationsRunNumber()
        if run == 0 { return ofProcess }
        if let present = ofRuns.withLock({ $0[run]?.scheduler }) { return present }
        let new = makeWithoutQueue()
        // The living schedulers are returned, because a reference to one of them may have become the last.
        let living = ofRuns.withLock { runs in
            let living = runs.compactMapValues { $0.scheduler }
            runs = runs.filter { living[$0.key] != nil }
            if living[run] == nil { runs[run] = OfRun(scheduler: new) }
            return living
        }
        return living[run] ?? new
    }

    private static func makeWithoutQueue() -> Scheduler {
        Scheduler(.init(maxConcurrentOperationCount: .max), place: .pool, permit: nil)
    }
}
