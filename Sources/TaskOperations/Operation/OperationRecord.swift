/// The mutable state of an operation, which the operation's lock protects. The record cannot be copied, so that no
/// thread reads an old copy.
struct OperationRecord: ~Copyable, Sendable {
    enum Phase: UInt8, Comparable, Sendable {
        /// Created, and not added to a queue or started.
        case created
        /// Added to a queue, or started with `start()`. The body has not begun.
        case submitted
        case executing
        case finished

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    var phase = Phase.created
    /// The requested level.
    var level: PriorityLevel
    /// The number of permits that the body takes.
    var weight: UInt16 = 1
    /// The highest level of waiters and dependents.
    var inherited = PriorityLevel.background
    /// The level inherited from operations behind barriers, and from waits for the end of the queue.
    var floor = PriorityLevel.background
    var isCancelled = false
    /// True once the operation was added, even if it had already ended at that time.
    var wasSubmitted = false
    /// True once an operation or a task has begun to wait for this operation, whose rank no longer increases.
    var isWaitedFor = false
    /// Whether the runner's task was, or is about to be, cancelled or escalated for this operation. Such a task must
    /// not run another operation.
    var isRunnerWorn = false
    /// Whether the operation has limits, which are in `links`.
    var hasLimits = false
    /// Whether the operation has options of its own, which are in `links`.
    var hasOptions = false
    /// Whether the operation has a priority of its own.
    var isPriorityGiven: Bool
    /// True once the body was wrapped in its policies.
    var isBodySurrounded = false
    /// The clock of the deadline of the operation's delay; `noClock` if the operation is not delayed.
    var deadlineClock = Self.noClock
    /// The host's number for the operation; negative until the host has inserted the operation.
    var slot: Int32 = -1
    /// The position of the delay's deadline in the heap of its clock.
    var deadlinePosition: Int32 = 0
    /// Nil until the first link is made. An operation without links is therefore 100 bytes smaller.
    var links: OperationLinks?
    /// The reference is not counted: several threads would update the reference count of the host at the same time,
    /// which doubled the cost of an empty operation. This is safe because a host keeps itself alive while it has
    /// operations, and an operation clears this reference, under its lock, before the host releases the operation.
    unowned(unsafe) var host: Scheduler?
    private var progress = Progress.none

    /// The runner of the body, later the outcome. Both share one field, because an operation never has both.
    private enum Progress: @unchecked Sendable {
        // The values of both cases are sendable.
        case none
        /// The reference is not counted: the runner exists until all its bodies have returned, and the operation clears
        /// this reference, under its lock, when its own body has returned.
        case runner(Unmanaged<OperationRunner>)
        case outcome(Outcome)
    }

    /// The runner of the body; nil once the operation has finished.
    var runner: OperationRunner? {
        if case .runner(let runner) = progress { runner.takeUnretainedValue() } else { nil }
    }

    /// The runner of the body, even after the operation was abandoned.
    var bodyRunner: OperationRunner? { runner ?? (outcome as? AbandonedOutcome)?.runner }

    /// Whether the body is executing. The body of an abandoned operation executes even after the operation has
    /// finished.
    var hasBody: Bool { phase == .executing || isAbandoned }

    /// Whether the operation is finished while its body is still executing.
    private var isAbandoned: Bool { phase == .finished && host != nil }

    /// Whether the operation and its body have both ended, so that neither waits for another operation.
    var isOver: Bool { phase == .finished && !isAbandoned }

    /// The outcome; nil if the operation has not finished or has succeeded without a value.
    var outcome: Outcome? {
        if case .outcome(let outcome) = progress { outcome } else { nil }
    }

    /// - Parameter level: The requested level; nil if none was requested.
    init(level: PriorityLevel?, links: OperationLinks?) {
        self.level = level ?? .medium
        isPriorityGiven = level != nil
        self.links = links
    }

    /// The level of the body's task.
    var effectiveLevel: PriorityLevel { max(orderLevel, floor) }

    /// The level that orders the operation. Levels inherited through a barrier do not count, because they raise all
    /// operations before it alike.
    var orderLevel: PriorityLevel { max(level, inherited) }

    /// The level that dependencies inherit. Before the operation is added, only the levels of its waiters count.
    var handedOnLevel: PriorityLevel? {
        if phase != .created { return effectiveLevel }
        return inherited > .background ? inherited : nil
    }

    var isReady: Bool { phase == .submitted && !hasUnfinishedDependencies && !isDelayed }

    /// A value that no clock has as its number.
    static var noClock: UInt8 { DeadlinePlace.clockLimit }

    /// Whether the operation has a delay that has not passed.
    var isDelayed: Bool { deadlineClock != Self.noClock }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// The host; nil until the host has inserted the operation.
    var settledHost: Scheduler? { slot >= 0 ? host : nil }

    /// Returns the links, which are created on first use.
    mutating func madeLinks() -> OperationLinks {
        if let links { return links }
        let made = OperationLinks()
        links = made
        return made
    }

    /// Records that the body begins to execute.
    mutating func start(on runner: OperationRunner) {
        phase = .executing
        progress = .runner(.passUnretained(runner))
    }

    /// Ends the operation. After the end, the record keeps only the outcome.
    mutating func end(_ outcome: Outcome?) -> OperationEnding {
        // The operation was abandoned, and its body has ended only now.
        if phase == .finished {
            host = nil
            return OperationEnding(links: links.take(), isRunnerWorn: true)
        }
        phase = .finished
        progress = outcome.map { .outcome($0) } ?? .none
        host = nil
        return OperationEnding(links: links.take(), isRunnerWorn: isRunnerWorn, wasDelayed: isDelayed)
    }

    /// Ends the operation while its body is still executing. The body keeps its place in the host and its waits until
    /// it ends.
    mutating func abandon(_ outcome: AbandonedOutcome) -> OperationEnding {
        let (host, bodyLinks) = (self.host, links?.splitBody())
        let ending = end(outcome)
        self.host = host
        links = bodyLinks
        return ending
    }
}

/// The outcome of an operation whose body still executes.
final class AbandonedOutcome: Outcome, @unchecked Sendable {
    // `runner` is constant.

    /// The runner of the body.
    weak let runner: OperationRunner?

    init(_ failure: any Error, _ runner: OperationRunner?) {
        self.runner = runner
        super.init(.failure(failure))
    }
}

/// The outcome of a body, without the type of its value. Where an outcome is optional, nil is success without a value.
///
/// It is an object, so an unfinished operation needs space for one reference only. With a typed or an existential
/// property, an operation would be larger than 120 bytes. Up to this size, a thread can free memory of another thread
/// without taking a lock (glibc's fast bins).
package class Outcome: @unchecked Sendable {
    // All properties of this class and its subclasses are constant.

    package let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}
