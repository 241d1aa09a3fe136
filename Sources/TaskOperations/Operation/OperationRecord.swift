/// All that changes in an operation, behind the operation's lock. Not copyable, so that nobody looks at a copy, and
/// none is paid for.
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
    /// The level that is handed on by what stands behind barriers, and by waits for the end of all in the queue.
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
    /// Not counted: threads that count the same host contend for its memory, which made an empty operation twice as
    /// expensive. It is right because a host keeps itself for as long as it has operations, and an operation
    /// forgets its host, under its lock, before the host lets go of it.
    unowned(unsafe) var host: (any OperationHost)?
    private var progress = Progress.none

    /// What executes the body, and then what came of it: one place for both, as there is never more than one of them.
    private enum Progress: @unchecked Sendable {
        // What they hold is sendable.
        case none
        /// Not counted: it is there until its work is done, bodies included, and the operation forgets it, under its
        /// lock, when its body is done.
        case runner(Unmanaged<OperationRunner>)
        case outcome(Outcome)
    }

    /// What the body executes in; nil once the operation is finished.
    var runner: OperationRunner? {
        if case .runner(let runner) = progress { runner.takeUnretainedValue() } else { nil }
    }

    /// What the body executes in, also after the operation was abandoned.
    var bodyRunner: OperationRunner? { runner ?? (outcome as? AbandonedOutcome)?.runner }

    /// Whether the body executes. The body of an abandoned operation does so after the operation has finished.
    var hasBody: Bool { phase == .executing || isAbandoned }

    /// Whether the operation is finished, and its body is not.
    private var isAbandoned: Bool { phase == .finished && host != nil }

    /// Whether the operation waits for nothing any more.
    var isOver: Bool { phase == .finished && !isAbandoned }

    /// What came of the operation; nil until it is finished, and if it succeeded without a value.
    var outcome: Outcome? {
        if case .outcome(let outcome) = progress { outcome } else { nil }
    }

    init(priority: TaskPriority?, links: OperationLinks?) {
        level = priority.map { PriorityLevel($0) } ?? .medium
        if priority != nil { marks = .isPriorityGiven }
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

    /// Set for good when anything comes to wait for the operation: its rank no longer rises.
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

    /// The level that has the operation's turn come before others. What a barrier hands on raises everything before it
    /// alike, so that it orders nothing.
    var orderLevel: PriorityLevel { max(level, inherited) }

    /// The level that dependencies inherit: only what waits for the operation counts before it is added.
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

    /// Ends the operation, which lets go of everything but its outcome.
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

/// What came of an operation whose body goes on.
final class AbandonedOutcome: Outcome, @unchecked Sendable {
    // It is constant, and only asked for to be returned.

    /// What the body executes in.
    weak let runner: OperationRunner?

    init(_ failure: any Error, _ runner: OperationRunner?) {
        self.runner = runner
        super.init(.failure(failure))
    }
}

/// What came of a body, without its type; nil stands for success without a value.
///
/// It is an object so that an operation that is not finished has only a reference for it: up to 120 bytes, memory
/// is freed by a thread that did not allocate it without taking a lock (glibc's fast bins), and an operation with
/// a typed place for its outcome, or an existential one, would be larger.
class Outcome: @unchecked Sendable {
    // All that it and its subclasses have is constant.

    let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}
