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

    /// Facts that need a bit each: an operation has no room for more, see `Outcome`.
    private struct Marks: OptionSet, Sendable {
        let rawValue: UInt8

        static let isCancelled = Marks(rawValue: 1)
        static let wasSubmitted = Marks(rawValue: 2)
        static let isWaitedFor = Marks(rawValue: 4)
        static let isRunnerWorn = Marks(rawValue: 8)
        static let hasLimits = Marks(rawValue: 16)
        static let hasOptions = Marks(rawValue: 32)
        static let isPriorityGiven = Marks(rawValue: 64)
        static let isBodySurrounded = Marks(rawValue: 128)
    }

    var phase = Phase.created
    /// The level that was asked for.
    var level: PriorityLevel
    /// How many permits the body takes.
    var weight: UInt16 = 1
    /// The highest level that waiters and dependents hand on.
    var inherited = PriorityLevel.background
    /// The level inherited from operations behind barriers, and from waits for the end of the queue.
    var floor = PriorityLevel.background
    private var marks: Marks = []
    /// The clock of the deadline before which the operation is not ready; `noClock` if there is none.
    var deadlineClock = Self.noClock
    /// The host's number for the operation; negative until the host has taken it in.
    var slot: Int32 = -1
    /// Where that deadline is kept.
    var deadlinePosition: Int32 = 0
    /// Made when the first link is. An operation without any is 100 bytes smaller for it.
    var links: OperationLinks?
    /// Not counted: threads that count references to one host contend for its memory, which made an empty operation twice
    /// as expensive. This is safe because a host keeps itself alive while it has operations, and an operation clears this
    /// reference, under its lock, before the host releases it.
    unowned(unsafe) var host: (any OperationHost)?
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

    /// Whether the operation waits for nothing any more.
    var isOver: Bool { phase == .finished && !isAbandoned }

    /// The outcome; nil until the operation has finished, and if it succeeded without a value.
    var outcome: Outcome? {
        if case .outcome(let outcome) = progress { outcome } else { nil }
    }

    /// - Parameter level: The requested level; nil if none was requested.
    init(level: PriorityLevel?, links: OperationLinks?) {
        self.level = level ?? .medium
        if level != nil { marks = .isPriorityGiven }
        self.links = links
    }

    var isCancelled: Bool {
        get { marks.contains(.isCancelled) }
        set { set(.isCancelled, newValue) }
    }

    /// Set for good when the operation is added, also if it had ended before.
    var wasSubmitted: Bool {
        get { marks.contains(.wasSubmitted) }
        set { set(.wasSubmitted, newValue) }
    }

    /// Set permanently when an operation or a task begins to wait for this one: its rank no longer increases.
    var isWaitedFor: Bool {
        get { marks.contains(.isWaitedFor) }
        set { set(.isWaitedFor, newValue) }
    }

    /// The runner's task was, or is about to be, cancelled or escalated for this operation, and must run no other.
    var isRunnerWorn: Bool {
        get { marks.contains(.isRunnerWorn) }
        set { set(.isRunnerWorn, newValue) }
    }

    /// Whether the operation has limits, which its links contain.
    var hasLimits: Bool {
        get { marks.contains(.hasLimits) }
        set { set(.hasLimits, newValue) }
    }

    /// Whether the operation has options of its own, which its links contain.
    var hasOptions: Bool {
        get { marks.contains(.hasOptions) }
        set { set(.hasOptions, newValue) }
    }

    /// Whether the operation has a priority of its own.
    var isPriorityGiven: Bool {
        get { marks.contains(.isPriorityGiven) }
        set { set(.isPriorityGiven, newValue) }
    }

    /// Set for good when the body was surrounded by policies.
    var isBodySurrounded: Bool {
        get { marks.contains(.isBodySurrounded) }
        set { set(.isBodySurrounded, newValue) }
    }

    private mutating func set(_ mark: Marks, _ isSet: Bool) {
        if isSet { marks.insert(mark) } else { marks.remove(mark) }
    }

    /// The level that counts.
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

    /// No number of a clock.
    static var noClock: UInt8 { DeadlinePlace.clockLimit }

    /// Whether the operation is not ready before a deadline that has not passed.
    var isDelayed: Bool { deadlineClock != Self.noClock }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// The host, once it has taken the operation in.
    var settledHost: (any OperationHost)? { slot >= 0 ? host : nil }

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

    /// Ends the operation. It keeps nothing but its outcome.
    mutating func end(_ outcome: Outcome?) -> OperationEnding {
        // It was abandoned, and its body is done only now.
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
/// It is an object, so that an unfinished operation has only one reference for it. With a typed or an existential place, an
/// operation would be larger than 120 bytes. Up to this size, a thread frees memory of another thread without a lock
/// (glibc's fast bins).
package class Outcome: @unchecked Sendable {
    // All that it and its subclasses have is constant.

    package let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}
