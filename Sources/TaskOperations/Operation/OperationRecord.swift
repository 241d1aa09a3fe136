/// The mutable state of an operation, behind the operation's lock. It cannot be copied, so that no thread reads a copy.
struct OperationRecord: ~Copyable, Sendable {
    enum Phase: UInt8, Comparable, Sendable {
        /// Made, and nowhere added.
        case created
        /// Added to a queue, or started by hand; its body has not begun.
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
    /// Set permanently when the operation is added, also if it had ended before.
    var wasSubmitted = false
    /// Set permanently when an operation or a task begins to wait for this one: its rank no longer increases.
    var isWaitedFor = false
    /// The runner's task was, or is about to be, cancelled or escalated for this operation, and must run no other.
    var isRunnerWorn = false
    /// Whether the operation has limits, which its links contain.
    var hasLimits = false
    /// Whether the operation has options of its own, which its links contain.
    var hasOptions = false
    /// Whether the operation has a priority of its own.
    var isPriorityGiven: Bool
    /// Set permanently when the body was wrapped in its policies.
    var isBodySurrounded = false
    /// The clock of the deadline before which the operation is not ready; `noClock` if there is none.
    var deadlineClock = Self.noClock
    /// The host's number for the operation; negative until the host has taken it in.
    var slot: Int32 = -1
    /// Where that deadline is kept.
    var deadlinePosition: Int32 = 0
    /// Nil until the first link is made. So an operation without links is 100 bytes smaller.
    var links: OperationLinks?
    /// The reference is not counted: the counts of several threads would contend for the memory of the host, which
    /// doubled the cost of an empty operation. This is safe because a host keeps itself alive while it has operations,
    /// and an operation clears this reference, under its lock, before the host releases the operation.
    unowned(unsafe) var host: Scheduler?
    private var progress = Progress.none

    /// The runner of the body, later the outcome. Both share one place, because there is never more than one of them.
    private enum Progress: @unchecked Sendable {
        // The values of both cases are sendable.
        case none
        /// Not counted: the runner exists until all its bodies have returned, and the operation clears this reference,
        /// under its lock, when its own body has returned.
        case runner(Unmanaged<OperationRunner>)
        case outcome(Outcome)
    }

    /// The runner of the body; nil once the operation has finished.
    var runner: OperationRunner? {
        if case .runner(let runner) = progress { runner.takeUnretainedValue() } else { nil }
    }

    /// The runner of the body, also after the operation was abandoned.
    var bodyRunner: OperationRunner? { runner ?? (outcome as? AbandonedOutcome)?.runner }

    /// Whether the body executes. The body of an abandoned operation does so after the operation has finished.
    var hasBody: Bool { phase == .executing || isAbandoned }

    /// Whether the operation is finished, and its body is not.
    private var isAbandoned: Bool { phase == .finished && host != nil }

    /// Whether the operation no longer waits for anything.
    var isOver: Bool { phase == .finished && !isAbandoned }

    /// The outcome; nil until the operation has finished, and if it succeeded without a value.
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

    /// A value that is not the number of a clock.
    static var noClock: UInt8 { DeadlinePlace.clockLimit }

    /// Whether the operation is not ready before a deadline that has not passed.
    var isDelayed: Bool { deadlineClock != Self.noClock }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// The host, once it has taken the operation in.
    var settledHost: Scheduler? { slot >= 0 ? host : nil }

    /// The links, made if there are none yet.
    mutating func madeLinks() -> OperationLinks {
        if let links { return links }
        let made = OperationLinks()
        links = made
        return made
    }

    /// The body begins to execute.
    mutating func start(on runner: OperationRunner) {
        phase = .executing
        progress = .runner(.passUnretained(runner))
    }

    /// Ends the operation. Afterwards it keeps only its outcome.
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

    /// Ends the operation and leaves its body behind, which keeps its place in the host and its waits until it ends.
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
    // It is constant, and only asked for to be returned.

    /// The runner of the body.
    weak let runner: OperationRunner?

    init(_ failure: any Error, _ runner: OperationRunner?) {
        self.runner = runner
        super.init(.failure(failure))
    }
}

/// The outcome of a body, without its type; nil is success without a value.
///
/// It is an object, so an unfinished operation needs space for one reference only. With a typed or an existential
/// property, an operation would be larger than 120 bytes. Up to this size, a thread can free memory that another thread
/// allocated without a lock (glibc's fast bins).
package class Outcome: @unchecked Sendable {
    // All properties of this class and its subclasses are constant.

    package let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}
