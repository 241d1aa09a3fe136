/// The mutable state of an operation. The operation's lock protects the state. The record cannot be copied, so no
/// thread can read an old copy.
struct OperationRecord: ~Copyable, Sendable {
    enum Phase: UInt8, Comparable, Sendable {
        /// The operation was not added to a queue or started.
        case created
        /// The operation was added to a queue, or started with `start()`. The body has not begun.
        case submitted
        case executing
        case finished

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

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

    // The properties of one and two bytes take 16 bytes. With more, an operation would be larger than 120 bytes: see
    // `Outcome`.

    var phase = Phase.created
    /// The requested level.
    var level: PriorityLevel
    /// The number of permits that the body takes.
    var weight: UInt16 = 1
    /// The highest level that waiters and dependents pass on.
    var inherited = PriorityLevel.background
    /// The level that the operation inherits from operations behind barriers, and from waits for the end of the queue.
    var floor = PriorityLevel.background
    var cancellation = Cancellation.none
    /// True after the operation was added. Also true if the operation had already ended at that time.
    var wasSubmitted = false
    /// True after an operation or a task has begun to wait for this operation. The rank of this operation then no
    /// longer increases.
    var isWaitedFor = false
    /// Whether the runner's task was cancelled or escalated for this operation, or soon will be. Such a task must not
    /// run another operation.
    var isRunnerWorn = false
    /// Whether an option wraps the body, or starts a timer at the addition.
    var hasTimedOptions = false
    /// Whether the operation has limits. They are in `links`.
    var hasLimits = false
    /// Whether the operation has its own priority, instead of the default of its queue.
    var isPriorityGiven: Bool
    var wrapping = BodyWrapping.none
    /// Whether a timeout passed before the operation was added. The operation must then end without a start.
    var isLate = false
    /// Whether the operation does work of the library. Interceptors do not wrap its body, and it does not fail its scope.
    var isInternal = false
    /// The operation's slot in its scheduler; negative until the scheduler has inserted the operation.
    var slot: Int32 = -1
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
    private var progress = Progress.none

    /// The runner of the body, and later the outcome. One field is sufficient, because an operation never has both.
    private enum Progress: @unchecked Sendable {
        // The values of both cases are sendable.
        case none
        /// The reference is not counted. This is safe, because the runner exists until all its bodies have returned.
        /// The operation clears this reference under its lock when its own body has returned.
        case runner(Unmanaged<OperationRunner>)
        case outcome(Outcome)
    }

    /// The runner of the body; nil before the start and after the operation has finished.
    var runner: OperationRunner? {
        if case .runner(let runner) = progress { runner.takeUnretainedValue() } else { nil }
    }

    /// The runner of the body, even after the operation was abandoned.
    var bodyRunner: OperationRunner? { runner ?? (outcome as? AbandonedOutcome)?.runner }

    /// Whether the body is executing. The body of an abandoned operation executes even after the operation has
    /// finished.
    var hasBody: Bool { phase == .executing || isAbandoned }

    /// Whether the operation is finished, but its body is still executing.
    private var isAbandoned: Bool { phase == .finished && scheduler != nil }

    /// Whether the operation and its body have both ended, so that neither waits for another operation.
    var isOver: Bool { phase == .finished && !isAbandoned }

    /// The outcome; nil if the operation has not finished or has succeeded without a value.
    var outcome: Outcome? {
        if case .outcome(let outcome) = progress { outcome } else { nil }
    }

    /// - Parameter level: The requested level; nil if no level was requested.
    init(level: PriorityLevel?, links: OperationLinks?) {
        self.level = level ?? .medium
        isPriorityGiven = level != nil
        self.links = links
    }

    var isCancelled: Bool { cancellation == .cancelled }

    /// The level of the body's task.
    var effectiveLevel: PriorityLevel { max(orderLevel, floor) }

    /// The level by which a queue orders the operation. Excludes levels inherited through a barrier, because they raise
    /// all operations before the barrier alike.
    var orderLevel: PriorityLevel { max(level, inherited) }

    /// The level that dependencies inherit. Before the operation is added, it passes on only the levels of its waiters.
    var propagatedLevel: PriorityLevel? {
        if phase != .created { return effectiveLevel }
        return inherited > .background ? inherited : nil
    }

    var isReady: Bool { phase == .submitted && !hasUnfinishedDependencies && !isDelayed && !isLate }

    var isDelayed: Bool { deadlineSlot >= 0 }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// The scheduler; nil until the scheduler has inserted the operation.
    var insertedScheduler: Scheduler? { slot >= 0 ? scheduler : nil }

    /// Returns the links. Creates them on first use.
    mutating func madeLinks() -> OperationLinks {
        if let links { return links }
        let made = OperationLinks()
        links = made
        return made
    }

    mutating func start(on runner: OperationRunner) {
        phase = .executing
        progress = .runner(.passUnretained(runner))
    }

    /// Ends the operation. Afterwards, the record contains only the outcome.
    mutating func end(_ outcome: Outcome?) -> OperationEnding {
        // The operation was abandoned, and its body has ended only now.
        if phase == .finished {
            scheduler = nil
            return OperationEnding(links: links.take(), options: options.take(), isRunnerWorn: true)
        }
        phase = .finished
        progress = outcome.map { .outcome($0) } ?? .none
        scheduler = nil
        return OperationEnding(
            links: links.take(), options: options.take(), isRunnerWorn: isRunnerWorn, wasDelayed: isDelayed)
    }

    /// Ends the operation while its body is still executing. Until the body ends, the body keeps its place in the scheduler
    /// and its waits.
    mutating func abandon(_ outcome: AbandonedOutcome) -> OperationEnding {
        let (scheduler, bodyLinks) = (self.scheduler, links?.splitBody())
        let ending = end(outcome)
        self.scheduler = scheduler
        links = bodyLinks
        return ending
    }
}

/// The outcome of an operation whose body still executes.
final class AbandonedOutcome: Outcome, @unchecked Sendable {
    // `runner` is constant.

    weak let runner: OperationRunner?

    init(_ failure: any Error, _ runner: OperationRunner?) {
        self.runner = runner
        super.init(.failure(failure))
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
