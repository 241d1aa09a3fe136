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
    /// The reference is not counted. Several threads would update the reference count of the scheduler at the same time,
    /// which doubled the cost of an empty operation.
    ///
    /// This is safe, because a scheduler keeps itself alive while it has operations. An operation clears this reference
    /// under its lock before the scheduler releases the operation.
    unowned(unsafe) var scheduler: Scheduler?

    /// - Parameter level: The requested level; nil if no level was requested.
    init(level: PriorityLevel?, links: OperationLinks?, addedTo scheduler: Scheduler?) {
        self.level = level ?? .medium
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
        return links.startLimit?.hasPassedAtAddition ?? false || links.endLimit?.hasPassedAtAddition ?? false
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
package class Outcome: @unchecked Sendable {
    // All properties of this class and its subclasses are constant.

    package let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}
