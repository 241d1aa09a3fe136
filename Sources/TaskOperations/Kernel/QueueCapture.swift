internal import CTaskOperations
import Synchronization

/// The state of a queue at one moment, with the details of its operations. TaskOperationsDiagnosis turns captures into
/// explanations.
package struct QueueCapture: Sendable {
    package struct Operation: Sendable {
        package let operation: AnyTaskOperation
        /// The number of the operation in its queue. The first operation has the number 1.
        package let number: UInt64
        package let status: OperationStatus
        package let priority: TaskPriority
        package let weight: Int
        package let isBarrier: Bool
        /// The time at which the operation started; nil if the queue was not observed at that time.
        package let startTime: ContinuousClock.Instant?
    }

    private let scheduler: Scheduler
    package let label: QueueLabel
    /// The state is a value, so that the cost of a copy does not depend on the number of operations.
    private let state: Scheduler.State
    /// The start times of operations, by slot. Contains only start times that were observed.
    private let startTimes: [Int: Moment]
    /// The scheduler whose suspension also suspends the queue; nil if there is none.
    private let suspensionSource: Scheduler?
    /// The details by slot. Contains all operations, or only the requested operations.
    package private(set) var details: [Int: OperationDetail] = [:]

    private init(_ scheduler: Scheduler, _ core: borrowing SchedulerCore) {
        self.scheduler = scheduler
        label = QueueLabel(scheduler)
        state = core.state
        startTimes = core.startTimes
        suspensionSource = core.suspensionSource
    }

    /// Captures queues and their contents at one moment.
    package static func capture(_ schedulers: some Sequence<Scheduler>) -> [QueueCapture] {
        capture(schedulers) { queues in
            for index in queues.indices {
                for slot in queues[index].state.rows.slots { queues[index].addDetail(of: slot) }
            }
            return queues
        }
    }

    /// Captures a queue and some of its operations.
    ///
    /// - Returns: The capture, and the slots of the operations. The slot of an operation that is no longer in the queue
    ///   is nil.
    package static func capture(
        _ scheduler: Scheduler, for operations: [AnyTaskOperation]
    ) -> (QueueCapture, slots: [Int?]) {
        capture(CollectionOfOne(scheduler)) { queues in
            var queue = queues[0]
            let slots = operations.map { operation -> Int? in
                let slot = operation.slot
                let isHere =
                    slot >= 0 && queue.state.rows.holds(slot) && queue.state.rows[slot].element === operation
                    && !queue.state.finishing.contains(slot)
                if isHere { queue.addDetail(of: slot) }
                return isHere ? slot : nil
            }
            return (queue, slots)
        }
    }

    /// Captures several queues at one moment. All of them are locked while `look` is called with their captures.
    ///
    /// The schedulers are locked in the order of their numbers. Any fixed order is safe, because no other code locks
    /// one scheduler while it holds the lock of another.
    private static func capture<Result: Sendable>(
        _ schedulers: some Sequence<Scheduler>, _ look: (inout [QueueCapture]) -> Result
    ) -> Result {
        var captures: [QueueCapture] = []
        return Scheduler.withCores(of: schedulers.sorted { $0.queueNumber < $1.queueNumber }) { scheduler, core in
            // No operation is added to this queue until all queues are captured.
            scheduler.emptyInbox(&core, openFor: nil)
            captures.append(QueueCapture(scheduler, core))
        } then: {
            look(&captures)
        }
    }

    private mutating func addDetail(of slot: Int) {
        details[slot] = OperationDetail(state.rows[slot].element, task: state.rows[slot].worker?.taskAddress)
    }

    // MARK: The queue

    package var width: (capacity: Int, taken: Int) { (state.width.capacity, state.width.taken) }
    package var control: (isSuspended: Bool, isShutDown: Bool) {
        (state.isSuspended, !state.admission.state.accepts)
    }
    /// The operations that hold permits, in the order of arrival.
    package var holders: [Operation] { state.permitHolders.map(operation) }
    /// The operations that wait for room in the queue, in the order of their arrival.
    package var operationsWaitingForRoom: [AnyTaskOperation] { state.admission.producers.all.map(\.element) }

    /// The label of the queue that must be resumed before a suspended queue starts operations. It is the label of this
    /// queue, or of the outermost suspended queue that it follows. Other queues are read after the capture.
    package var suspendedQueue: QueueLabel {
        var (suspended, next) = (scheduler, suspensionSource)
        while let outer = next, outer.isSuspended { (suspended, next) = (outer, outer.suspensionSource) }
        return QueueLabel(suspended)
    }

    // MARK: Operations

    package func operation(at slot: Int) -> Operation {
        let row = state.rows[slot]
        return Operation(
            operation: row.element, number: state.number(of: slot), status: row.status,
            priority: row.level.taskPriority, weight: row.weight, isBarrier: row.isBarrier,
            startTime: startTimes[slot]?.instant)
    }

    /// The reasons why one operation does not start or continue. Takes linear time in the number of operations.
    package func reasons(of slot: Int) -> [QueueReason] { state.reasons(of: slot) }

    /// The unfinished operations, with their reasons, in the order of arrival. Sorts the operations.
    package var allReasons: [(slot: Int, reasons: [QueueReason])] { state.allReasons }
}

extension SchedulerCore {
    /// The start times of executing operations, by slot. Linear in the number of operations, unless the queue is not
    /// observed.
    fileprivate var startTimes: [Int: Moment] {
        if !state.changes.isObserved { return [:] }
        let times = state.rows.slots.compactMap { slot in state.rows[slot].worker?.beginning.map { (slot, $0) } }
        return Dictionary(uniqueKeysWithValues: times)
    }
}

extension Scheduler {
    /// Whether this is the scheduler of operations that are started without a queue.
    package nonisolated var isWithoutQueue: Bool { permit == nil }

    package nonisolated var width: Int { permits.capacity }

    /// The number of permits of the queue, and of those that are in use.
    package nonisolated var permits: (capacity: Int, taken: Int) {
        withCore { ($0.state.width.capacity, $0.state.width.taken) }
    }

    /// The schedulers of all queues, in the order of creation, and the scheduler of operations that are started without
    /// a queue. In a run of an exploration, only the queues that it has created, because a look at a queue can start
    /// operations.
    package static var all: [Scheduler] {
        let run = taskOperationsRunNumber()
        return AllQueues.schedulers { run == 0 || $0.run == run } + [.withoutQueue]
    }
}

/// The state of an operation and its waits, at one moment.
package struct OperationDetail: Sendable {
    /// The state; nil if the operation was not added or started.
    package let state: TaskOperationState?
    package let isCancelled: Bool
    package let isDelayed: Bool
    /// Whether the operation represents work that the library does not run.
    package let isOutside: Bool
    package let isPermitLent: Bool
    /// The address of the task that executes the body, which only identifies the task; nil if no task does.
    package let task: UInt?
    /// The scheduler of the operation's queue, or `withoutQueue`. Nil if the operation was not added or started.
    package let scheduler: Scheduler?
    /// All dependencies of the operation, finished or unfinished.
    private let dependencyList: DependencyList?
    private let waits: [OperationLinks.Wait]
    private let notes: [OpaqueWait]
    private let limits: [LimitRequest]
    /// Whether the body waits for its limits before another attempt.
    private let awaitsLimits: Bool

    package init(_ operation: AnyTaskOperation) {
        self.init(operation, task: operation.worker?.taskAddress)
    }

    /// For a caller that holds the lock of the queue.
    fileprivate init(_ operation: AnyTaskOperation, task: UInt?) {
        self = operation.record.withLock { OperationDetail($0, operation.phase, task: task) }
    }

    private init(_ record: borrowing OperationRecord, _ phase: OperationPhase, task: UInt?) {
        state =
            switch phase {
            case .created: nil
            case .added: record.hasUnfinishedDependencies || record.isDelayed ? .waiting : .ready
            case .executing: .executing
            case .finished: .finished
            }
        isCancelled = record.isCancelled
        isDelayed = record.isDelayed
        isOutside = record.wasSubmitted && phase == .created
        isPermitLent = record.links?.extras?.permit == .lent
        self.task = task
        scheduler = record.scheduler
        dependencyList = phase == .finished ? nil : record.links?.dependencies
        waits = record.links?.extras?.waits.all ?? []
        notes = record.links?.extras?.notes.all ?? []
        limits = record.links?.limits ?? []
        awaitsLimits = record.links?.extras?.limitUse == .returning
    }

    /// The unfinished dependencies of the operation.
    package var dependencies: [AnyTaskOperation] { dependencyList?.unfinished ?? [] }

    /// The semaphores of the limits, with the text of each key. Calls the functions of the keys.
    package var limitTexts: [(semaphore: AsyncSemaphore, key: String?, weight: Int)] {
        limits.map { ($0.limit, $0.key.map { "\($0.userValue)" }, $0.weight) }
    }

    /// The descriptions of the limits that have too few free permits. If every limit has enough free permits, the
    /// descriptions of all limits.
    package var limitDescriptions: [String] {
        let full = limits.filter { !$0.isFree }
        return (full.isEmpty ? limits : full).map(\.waitDescription)
    }

    /// The waits of the body. An open scope is not included while the body does not yet await its end.
    package var bodyWaits: [(target: AwaitedTarget, since: ContinuousClock.Instant)] {
        let own = waits.filter { $0.isSuspended && !$0.isDescribed }.flatMap { wait in
            targets(of: wait).map { ($0, wait.since) }
        }
        return own + notes.map { (.object($0.kind, $0.description()), $0.since) }
    }

    private func targets(of wait: OperationLinks.Wait) -> [AwaitedTarget] {
        switch (wait.purpose, wait.target) {
        case (.pause, _) where awaitsLimits: limitDescriptions.map { .object(.semaphore, $0) }
        case (.pause(let attempt, let length), _): [.pause(attempt: attempt, length: length)]
        case (.room(let scheduler), _): [.room(scheduler)]
        case (nil, .operation(let operation)), (.separatePriorities, .operation(let operation)):
            [.operation(operation)]
        case (nil, .end(let scheduler)): [.end(scheduler)]
        case (.work, _), (.described, _), (.separatePriorities, _), (nil, .permit): [.outside]
        }
    }
}

extension OperationLinks.Wait {
    /// Whether an `OpaqueWait` describes the same wait.
    fileprivate var isDescribed: Bool { if case .described = purpose { true } else { false } }
}

/// What a body awaits.
package enum AwaitedTarget: Sendable {
    case operation(AnyTaskOperation)
    case end(Scheduler)
    case room(Scheduler)
    /// A semaphore, a completion handler or a group, with its description.
    case object(AwaitedKind, String)
    case pause(attempt: Int, length: Duration)
    /// Work that the library does not run.
    case outside
}

/// All queues of the process, and the observers and recorders that are added to each queue.
package enum AllQueues {
    /// A weak reference to a queue. Access it with no lock held, because the result may become the last reference to
    /// the queue.
    ///
    /// The reference is to the owner of the queue, because a weak reference to the scheduler would slow down each use
    /// of the scheduler.
    fileprivate struct WeakQueue: Sendable {
        weak let queue: TaskOperationQueue?
        /// The run of an exploration that has created the queue.
        let run = taskOperationsRunNumber()
    }

    /// An observer or a recorder. Both functions have no effect if they are called again.
    package struct Listener: Sendable {
        let identity: ObjectIdentifier
        let begin: @Sendable (Scheduler) -> Void
        let end: @Sendable (Scheduler) -> Void

        init(_ observer: any TaskOperationObserver) {
            identity = observer.identity
            begin = { $0.addObserver(observer) }
            end = { $0.removeObserver(observer) }
        }

        package init(_ recorder: any ChangeRecorder) {
            identity = ObjectIdentifier(recorder)
            begin = { $0.addRecorder(recorder) }
            end = { $0.removeRecorder(recorder) }
        }
    }

    private struct State: Sendable {
        var queues: [Int: WeakQueue] = [:]
        /// The observers and recorders to add to each queue, in the order of registration.
        var listeners: [Listener] = []

        func contains(_ listener: Listener) -> Bool { listeners.contains { $0.identity == listener.identity } }
    }

    private static let state = Lock(State())

    /// Adds a new queue. Its observers are added before its first operation.
    static func add(_ queue: TaskOperationQueue) {
        let weak = WeakQueue(queue: queue)
        let (number, scheduler) = (queue.scheduler.queueNumber, queue.scheduler)
        let listeners = state.withLock { state in
            state.queues[number] = weak
            return state.listeners
        }
        for listener in listeners { begin(listener, in: scheduler) }
    }

    /// Removes a queue when the object that owns it is freed.
    static func remove(_ queueNumber: Int) {
        _ = state.withLock { $0.queues.removeValue(forKey: queueNumber) }
    }

    fileprivate static func schedulers(where isIncluded: (WeakQueue) -> Bool) -> [Scheduler] {
        let queues = state.withLock { Array($0.queues) }
        let ordered = queues.filter { isIncluded($0.value) }.sorted { $0.key < $1.key }
        return ordered.compactMap { $0.value.queue?.scheduler }
    }

    /// Adds a listener to each queue, including queues that are created later.
    package static func add(_ listener: Listener) {
        let isNew = state.withLock { state in
            if state.contains(listener) { return false }
            state.listeners.append(listener)
            return true
        }
        if isNew { for scheduler in everywhere { begin(listener, in: scheduler) } }
    }

    package static func remove(_ listener: Listener) {
        let former = state.withLock { state in
            defer { state.listeners.removeAll { $0.identity == listener.identity } }
            return state.listeners
        }
        // Released after unlocking.
        extendLifetime(former)
        for scheduler in everywhere { listener.end(scheduler) }
    }

    /// Writes the present state of each queue with unfinished operations that one of some recorders records. In a run of an
    /// exploration, only of the queues that it has created.
    static func writePresent(to recorders: [any ChangeRecorder]) {
        var rest: Int?
        for scheduler in Scheduler.all where rest ?? 1 > 0 {
            scheduler.withCore { core in
                guard let recording = core.recording, recording.writes(toAnyOf: recorders), !core.state.isEmpty
                else { return }
                let limit = rest ?? recording.room
                rest = limit - scheduler.writePresent(in: &core, limit: limit)
            }
        }
    }

    private static var everywhere: [Scheduler] { schedulers { _ in true } + [.withoutQueue] }

    private static func begin(_ listener: Listener, in scheduler: Scheduler) {
        listener.begin(scheduler)
        // The listener may have been removed meanwhile.
        if state.withLock({ !$0.contains(listener) }) { listener.end(scheduler) }
    }
}
