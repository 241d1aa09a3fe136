import Synchronization

/// The phase of an operation's life. Everything else about the life is derived from it: `TaskOperationState` also says
/// whether the dependencies are finished, and a queue also says whether a body has lent its permit (`OperationStatus`).
enum OperationPhase: UInt8, Comparable, AtomicRepresentable, Sendable {
    /// The operation was not added to a queue or started.
    case created
    /// The operation was added to a queue, or started with `start()`. The body has not begun.
    case added
    case executing
    case finished

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The mutable state of an operation, except its phase and its outcome. The operation's lock protects the record. The
/// record cannot be copied, so no thread can read an old copy.
///
/// While a queue contains the operation, the row of the queue has the status, the order, the use of permits, and the
/// worker of the body. See `QueuedOperation`.
struct OperationRecord: ~Copyable, Sendable {
    enum Cancellation: UInt8, Sendable {
        case none
        /// The operation was cancelled after it had finished.
        case afterEnd
        case cancelled
    }

    enum BodyWrapping: UInt8, Sendable {
        case none
        /// The body is wrapped in its policies.
        case wrapped
        /// The addition that wrapped the body was withdrawn. The body reads the options again.
        case outdated
    }

    // The properties up to `deadlineSlot` take 16 bytes in this order. With more, an operation would be larger than 120
    // bytes: see `Outcome`.

    /// The requested level.
    var level: PriorityLevel
    /// The highest level that waiters and dependents pass on.
    var inherited = PriorityLevel.background
    /// The number of permits that the body takes.
    var weight: UInt16 = 1
    /// The level that the operation inherits from operations behind barriers, and from waits for the end of the queue.
    var floor = PriorityLevel.background
    var cancellation = Cancellation.none
    /// True after the operation was added. Also true if the operation had already ended at that time.
    var wasSubmitted = false
    /// True after an operation or a task has begun to wait for this operation. The rank of this operation then no
    /// longer increases.
    var isWaitedFor = false
    /// Whether an option wraps the body, or starts a timer at the addition. Also true if an option of the queue has
    /// started a timer.
    var hasTimedOptions = false
    /// Whether the operation has its own priority, instead of the default of its queue.
    var isPriorityGiven: Bool
    var wrapping = BodyWrapping.none
    /// Whether the operation does work of the library. Interceptors do not wrap its body, and it does not fail its scope.
    var isInternal = false
    /// The slot of the delay's deadline; negative if the operation is not delayed.
    var deadlineSlot: Int32 = -1
    /// The operation's own options, without the defaults of its queue; nil if it has none.
    var options: OperationOptions?
    /// Nil until the first link is made, so that an operation without links is 100 bytes smaller.
    var links: OperationLinks?
    /// The reference is not counted. Several threads would update the reference count of the scheduler at the same time:
    /// Cost, row 3.
    ///
    /// This is safe, because a scheduler keeps itself alive while it has operations. An operation clears this reference
    /// under its lock before the scheduler releases the operation.
    unowned(unsafe) var scheduler: Scheduler?

    /// - Parameter level: The requested level; nil if no level was requested.
    init(level: PriorityLevel?, links: OperationLinks?, addedTo scheduler: Scheduler?) {
        self.level = level ?? .default
        isPriorityGiven = level != nil
        self.links = links
        self.scheduler = scheduler
        wasSubmitted = scheduler != nil
    }

    var isCancelled: Bool { cancellation == .cancelled }

    /// The level of the body's task.
    var effectiveLevel: PriorityLevel { max(orderLevel, floor) }

    /// The level by which a queue orders the operation. Excludes levels inherited through a barrier, because they raise
    /// all operations before the barrier alike.
    var orderLevel: PriorityLevel { max(level, inherited) }

    /// The level that dependencies inherit. Before the operation is added, it passes on only the levels of its waiters.
    func propagatedLevel(in phase: OperationPhase) -> PriorityLevel? {
        if phase != .created { return effectiveLevel }
        return inherited > .background ? inherited : nil
    }

    /// Whether nothing that the operation knows prevents its start.
    var mayStart: Bool { !hasUnfinishedDependencies && !isDelayed && !isLate }

    /// Whether a timeout passed before the operation was added. The operation must then end without a start.
    var isLate: Bool {
        guard hasTimedOptions, let links else { return false }
        return links.startTimeout?.hasPassedAtAddition ?? false || links.endTimeout?.hasPassedAtAddition ?? false
    }

    var hasLimits: Bool { links.map { !$0.limits.isEmpty } ?? false }

    var isDelayed: Bool { deadlineSlot >= 0 }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// Returns the links. Creates them on first use.
    mutating func madeLinks() -> OperationLinks {
        if let links { return links }
        let made = OperationLinks()
        links = made
        return made
    }

    /// Removes everything that an ended operation no longer needs.
    mutating func end() -> OperationEnding {
        scheduler = nil
        return OperationEnding(links: links.take(), options: options.take(), wasDelayed: isDelayed)
    }

    /// Like `end`, but keeps the place of the executing body in its queue, and the body's waits.
    mutating func abandon() -> OperationEnding {
        let (scheduler, bodyLinks) = (self.scheduler, links?.splitBody())
        let ending = end()
        self.scheduler = scheduler
        links = bodyLinks
        return ending
    }
}

/// The outcome of a body, without the type of its value. An optional outcome that is nil means success without a value.
///
/// The outcome is an object, so that an unfinished operation needs space for only one reference. With a typed or an
/// existential property, an operation would be larger than 120 bytes. Memory of at most this size can be freed by
/// another thread without a lock (glibc's fast bins).
class Outcome: @unchecked Sendable {
    // All properties of this class and its subclasses are constant.

    let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}

/// The outcome of an operation that was refused because of its limits before its queue received it. An ended operation
/// has no limits, but its first event contains their keys.
final class LimitRefusal: Outcome, @unchecked Sendable {
    // All properties are constant.

    let limits: [LimitRequest]

    init(_ error: TaskOperationError, limits: [LimitRequest]) {
        self.limits = limits
        super.init(.failure(error))
    }
}

// MARK: - Links

/// The links between an operation and other operations, and between the operation and the tasks that wait for it.
///
/// Rare links are in a separate object, instead of eight more collections: Cost, row 8. The object has 120 bytes, which
/// another thread can free without a lock: see `Outcome`.
final class OperationLinks: @unchecked Sendable {
    // One record owns this object, and accesses it only under the record's lock. Accesses therefore need no exclusivity
    // check at run time: Cost, row 9.

    @exclusivity(unchecked) var dependencies = DependencyList()
    /// The submitted operations that depend on this one.
    @exclusivity(unchecked) var dependents = OperationList<Void>()
    /// The tasks that await the end of the operation.
    @exclusivity(unchecked) var waiters = WaitingList<OperationWaiter>()
    /// The levels that waiters and dependents pass to the operation.
    @exclusivity(unchecked) var contributions = LevelContributions()
    /// The limits of the operation, in the order in which they are taken. The operation needs permits of each limit.
    @exclusivity(unchecked) var limits: [LimitRequest] = []
    /// The timeouts that began when the operation was added.
    @exclusivity(unchecked) var startTimeout: StartTimeout?
    @exclusivity(unchecked) var endTimeout: EndTimeout?
    @exclusivity(unchecked) private(set) var extras: Extras?

    /// The rare links. Like `OperationLinks`, they are accessed only under the record's lock.
    final class Extras: @unchecked Sendable {
        /// The functions to call when the operation has finished, in the order in which they were added.
        @exclusivity(unchecked) var handlers: [@Sendable (AnyTaskOperation) -> Void] = []
        /// The waits of the executing body and of its child tasks.
        @exclusivity(unchecked) var waits = BodyWaits()
        /// The waits in the body and its child tasks for targets that the library does not know.
        @exclusivity(unchecked) var notes = SlotMap<OpaqueWait>()
        /// The use of the body's permit during the body's waits.
        @exclusivity(unchecked) var permit = PermitUse.held
        /// The number of handlers that only end something that belongs to the operation.
        @exclusivity(unchecked) var ownHandlerCount: Int32 = 0
        /// The executor of the body if the queue has no executor.
        @exclusivity(unchecked) var executor: (any TaskExecutor)?
        /// The values of task locals that the operation inherited when it was added.
        @exclusivity(unchecked) var bindings: [TaskLocalBinding] = []
        /// The use of the limits' permits while the body executes.
        @exclusivity(unchecked) var limitUse = LimitUse.held
        /// The corrected costs of the present attempt, by the numbers of the limits.
        @exclusivity(unchecked) var settledCosts: [Int: Int] = [:]
        /// The room that the operation takes in limits that bound their queued operations; nil if it takes none.
        @exclusivity(unchecked) var room: LimitRoom?
        /// The number of waits whose edges are being made. Counted only for a body with limits.
        @exclusivity(unchecked) var beginningWaitCount = 0
        /// The inputs of an operation to which inputs can be added. The type of their values is known to `addInput`
        /// only.
        @exclusivity(unchecked) var inputs: (any AnyObject & Sendable)?
        /// The operation's progress, which is an object of TaskOperationsExtras. Nil until the progress is reported or
        /// requested.
        @exclusivity(unchecked) var progress: (any AnyObject & Sendable)?
    }

    struct Wait: Sendable {
        let target: WaitNode
        /// Whether a task of the body is suspended in the wait. It is false for a body that has opened a scope and has
        /// not yet begun to await the scope's end.
        let isSuspended: Bool
        /// The purpose of the wait; nil if the target makes the purpose clear.
        var purpose: Purpose?
        /// The level that the target inherits from the body; nil if the target inherits no level.
        var handedOn: PriorityLevel?
        let since = ContinuousClock.now

        /// Whether the target inherits the body's level at the beginning of the wait. Otherwise, it inherits only
        /// levels that the body inherits later.
        var handsOnAtBeginning: Bool {
            if case .end = target { return false }
            if case .separatePriorities = purpose { return false }
            return true
        }

        enum Purpose: Sendable {
            /// Work within `withPermitLent`.
            case work
            /// A pause before an attempt.
            case pause(attempt: Int, length: Duration)
            /// Room in a queue for another operation.
            case room(Scheduler)
            /// The end of operations that have priorities of their own.
            case separatePriorities
            /// The end of an object that an `OpaqueWait` describes.
            case described
        }
    }

    init() {}

    /// Moves the links of the executing body to a new object, and returns that object.
    func splitBody() -> OperationLinks {
        let body = OperationLinks()
        swap(&body.limits, &limits)
        if let extras {
            let extrasOfBody = body.madeExtras()
            swap(&extrasOfBody.waits, &extras.waits)
            swap(&extrasOfBody.notes, &extras.notes)
            (extrasOfBody.permit, extrasOfBody.limitUse) = (extras.permit, extras.limitUse)
            extrasOfBody.settledCosts = extras.settledCosts
        }
        return body
    }

    /// - Parameters:
    ///   - inputCount: The number of the first dependencies whose values the body needs.
    ///   - level: The level that the dependencies inherit, if the caller links them at once; otherwise nil.
    init(dependencies operations: [AnyTaskOperation], inputCount: Int, linkedHandingOn level: PriorityLevel?) {
        for (index, operation) in operations.enumerated()
        where dependencies.insert(operation, isInput: index < inputCount, linkedHandingOn: level) {
            operation.record.withLock { $0.isWaitedFor = true }
        }
    }
}

// MARK: - Rare links

extension OperationLinks {
    func addHandler(_ handler: @escaping @Sendable (AnyTaskOperation) -> Void, isOwn: Bool) {
        let extras = madeExtras()
        extras.handlers.append(handler)
        if isOwn { extras.ownHandlerCount += 1 }
    }

    /// Resumes the tasks that await the end of the operation.
    // Not inlined. Otherwise, its generic types would be looked up even if there are no waiters.
    @inline(never)
    func resumeWaiters() { waiters.forEach { InlineJobs.resumeWaiter($0.continuation) } }

    func madeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }
}

/// Runs a body with a task local set.
typealias TaskLocalBinding = @Sendable (_ body: () async -> Outcome?) async -> Outcome?

/// The links and the options of a finished operation. The caller uses and releases them after it has released the
/// operation's lock.
struct OperationEnding: Sendable {
    private let links: OperationLinks?
    private let options: OperationOptions?
    /// Whether the deadline of the operation's delay is pending. The caller must then remove the deadline.
    let wasDelayed: Bool

    init(links: OperationLinks?, options: OperationOptions?, wasDelayed: Bool) {
        self.links = links
        self.options = options
        self.wasDelayed = wasDelayed
    }

    /// Whether operations, tasks or handlers must learn of the end.
    var hasLinks: Bool { links != nil }

    @inline(__always)
    func forEachDependent(_ body: (AnyTaskOperation) -> Void) {
        links?.dependents.forEach(body)
    }

    var hasHandlers: Bool { links?.extras.map { !$0.handlers.isEmpty } ?? false }

    func callHandlers(_ operation: AnyTaskOperation) {
        guard let extras = links?.extras else { return }
        for handler in extras.handlers { handler(operation) }
    }

    /// Ends what began when the operation was added: its timeouts, and its room in limits.
    func endOptions() {
        guard let links else { return }
        links.startTimeout?.endTimer()
        links.endTimeout?.endTimer()
        links.extras?.room?.giveBack()
    }

    var hasWaiters: Bool { links.map { !$0.waiters.isEmpty } ?? false }

    func resumeWaiters() {
        if hasWaiters { links?.resumeWaiters() }
    }

    /// Removes the edges from the operation to its unfinished dependencies.
    func leaveDependencies(_ operation: AnyTaskOperation) {
        guard let links, links.dependencies.unfinishedCount > 0 else { return }
        operation.leave(links.dependencies.unlink(), links.dependencies.propagate(nil))
    }
}

/// A task that awaits the end of an operation.
struct OperationWaiter: Sendable {
    let continuation: WaitContinuation<Bool>
    var level: PriorityLevel
}
