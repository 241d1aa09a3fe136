/// All that changes in an operation, behind the operation's lock. Not copyable, so that nobody looks at a copy, and
/// none is paid for.
struct OperationRecord: ~Copyable, Sendable {
    enum Phase: Comparable, Sendable {
        /// Made, and nowhere added.
        case created
        /// Added to a queue, or started by hand; its body has not begun.
        case submitted
        case executing
        case finished
    }

    var phase = Phase.created
    /// The level that was asked for.
    var level: PriorityLevel
    /// The highest level of what waits for the operation.
    var escalation = PriorityLevel.background
    var isCancelled = false
    /// Set for good when the operation is added, also where it had ended before.
    var wasSubmitted = false
    /// Set for good when anything comes to wait for the operation: until then it cannot be part of a cycle.
    var isWaitedFor = false
    /// The runner's task was, or is about to be, cancelled or escalated for this operation, and must run no other.
    var isRunnerWorn = false
    /// The host's number for the operation; negative until the host has taken it in.
    var slot: Int32 = -1
    /// Made when the first link is. An operation without any is 100 bytes smaller for it.
    var links: OperationLinks?
    /// Not counted: threads that count the same host contend for its memory, which made an empty operation twice as
    /// expensive. It is right because a host keeps itself for as long as it has operations, and an operation
    /// forgets its host, under its lock, before the host lets go of it.
    unowned(unsafe) var host: (any OperationHost)?
    /// What the body executes in. Not counted either: a runner is there until its work is done, bodies included, and
    /// the operation forgets it, under its lock, when its body is done.
    unowned(unsafe) var runner: OperationRunner?
    /// Set when the operation is finished, unless it succeeded without a value.
    var outcome: Outcome?

    init(level: PriorityLevel, links: OperationLinks?) {
        self.level = level
        self.links = links
    }

    /// The level that counts.
    var effectiveLevel: PriorityLevel { max(level, escalation) }

    var isReady: Bool { phase == .submitted && !hasUnfinishedDependencies }

    var hasUnfinishedDependencies: Bool { links.map { $0.dependencies.unfinishedCount > 0 } ?? false }

    /// The host, once it has taken the operation in.
    var settledHost: (any OperationHost)? { slot >= 0 ? host : nil }

    /// The links, made where there are none yet.
    mutating func madeLinks() -> OperationLinks {
        if let links { return links }
        let made = OperationLinks()
        links = made
        return made
    }

    /// Ends the operation, which lets go of everything but its outcome.
    mutating func end(_ outcome: Outcome?) -> OperationEnding {
        phase = .finished
        self.outcome = outcome
        host = nil
        runner = nil
        return OperationEnding(links: links.take(), isRunnerWorn: isRunnerWorn)
    }
}

/// What ties an operation to others and to those who wait for it.
final class OperationLinks: @unchecked Sendable {
    // One record owns it, and reaches it under its lock only. That is also why accesses are not checked while running:
    // it would be a tenth of what a link of a chain costs.

    @exclusivity(unchecked) var dependencies = DependencyList()
    /// Submitted operations that depend on this one. One that dropped the dependency may still be in here.
    @exclusivity(unchecked) var dependents = Few<AnyTaskOperation>()
    /// Called when the operation has finished, in the order of adding.
    @exclusivity(unchecked) var handlers: [@Sendable (AnyTaskOperation) -> Void] = []
    /// Tasks that await the end.
    @exclusivity(unchecked) var continuations: [CheckedContinuation<Void, Never>] = []
    /// What the executing body, and tasks within it, await.
    @exclusivity(unchecked) var waits: [WaitTarget] = []
    /// Where the body runs in a queue that does not say so itself.
    @exclusivity(unchecked) var executor: (any TaskExecutor)?
    /// Task locals carried from where the operation was added.
    @exclusivity(unchecked) var bindings: [TaskLocalBinding] = []
    /// What runs beside the first body.
    @exclusivity(unchecked) var addedBodies: AddedBodies?

    /// The waits in memory of their own: the thread sanitizer does not see that the last reader of a shared array
    /// hands it back to its writer, and would report that.
    var waitsCopy: [WaitTarget] { waits.map { $0 } }

    init() {}

    init(dependencies operations: [AnyTaskOperation]) {
        for operation in operations where dependencies.insert(operation) {
            operation.record.withLock { $0.isWaitedFor = true }
        }
    }
}

/// What came of a body, without its type; nil stands for success without a value.
///
/// It is an object so that an operation that is not finished has only a reference for it: up to 120 bytes, memory
/// is freed by a thread that did not allocate it without taking a lock (glibc's fast bins), and an operation with
/// a typed place for its outcome, or an existential one, would be larger.
final class Outcome: Sendable {
    let result: Result<any Sendable, any Error>

    init(_ result: Result<any Sendable, any Error>) {
        self.result = result
    }
}

/// Runs a body with a task local set.
typealias TaskLocalBinding = @Sendable (_ body: () async -> Outcome?) async -> Outcome?

/// What a finished operation lets go of. It is carried out, and freed, after the operation's lock is left.
struct OperationEnding: Sendable {
    private let links: OperationLinks?
    let isRunnerWorn: Bool

    init(links: OperationLinks?, isRunnerWorn: Bool) {
        self.links = links
        self.isRunnerWorn = isRunnerWorn
    }

    /// Whether anything but the host has to learn of the end.
    var hasLinks: Bool { links != nil }

    var dependents: Few<AnyTaskOperation> { links?.dependents ?? Few() }

    var hasHandlers: Bool { links.map { !$0.handlers.isEmpty } ?? false }

    func callHandlers(_ operation: AnyTaskOperation) {
        guard let links else { return }
        for handler in links.handlers { handler(operation) }
    }

    func resumeWaiters() {
        guard let links, !links.continuations.isEmpty else { return }
        InlineJobs.resume(links.continuations)
    }
}
