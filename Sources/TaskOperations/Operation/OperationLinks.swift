/// The links of an operation: its links to other operations and to the tasks that wait for it.
///
/// Rare links are in a separate object. Eight empty collections would take 10 % of the cost of an operation in a chain
/// of dependencies.
final class OperationLinks: @unchecked Sendable {
    // One record owns this object, and accesses it only under the record's lock. Therefore accesses need no check for
    // exclusivity at run time, which would take 10 % of the cost of an operation in a chain of dependencies.

    @exclusivity(unchecked) var dependencies = DependencyList()
    /// Submitted operations that depend on this one.
    @exclusivity(unchecked) var dependents = OperationList<Void>()
    /// Tasks that await the end of the operation.
    @exclusivity(unchecked) var waiters = WaiterList()
    /// The levels that waiters and dependents pass to the operation.
    @exclusivity(unchecked) var contributions = LevelContributions()
    @exclusivity(unchecked) private var extras: Extras?

    /// The rare links. Like `OperationLinks`, they are accessed only under the record's lock.
    private final class Extras: @unchecked Sendable {
        @exclusivity(unchecked) var handlers: [@Sendable (AnyTaskOperation) -> Void] = []
        @exclusivity(unchecked) var waits: [Wait] = []
        @exclusivity(unchecked) var notes: [OpaqueWait] = []
        @exclusivity(unchecked) var permit = PermitUse.held
        @exclusivity(unchecked) var executor: (any TaskExecutor)?
        @exclusivity(unchecked) var bindings: [TaskLocalBinding] = []
        @exclusivity(unchecked) var options = OperationOptions()
        @exclusivity(unchecked) var timers: OperationTimers?
        @exclusivity(unchecked) var limits: [AsyncSemaphore] = []
        @exclusivity(unchecked) var limitUse = LimitUse.held
        @exclusivity(unchecked) var beginningWaitCount = 0
        @exclusivity(unchecked) var addedBodies: AddedBodies?
        @exclusivity(unchecked) var progress: Attachment?
    }

    /// A wait of a body.
    struct Wait: Sendable {
        let target: WaitNode
        /// Whether a task of the body is suspended in the wait. It is false for the body of an open scope, which awaits
        /// the end of the scope only later.
        let isSuspended: Bool
        /// The purpose of the wait; nil if the target tells the purpose.
        var purpose: Purpose?
        /// The level that the target inherits from the body; nil if it inherits none.
        var handedOn: PriorityLevel?
        let since = ContinuousClock.now

        enum Purpose: Sendable {
            /// Work within `withPermitLent`.
            case work
            /// A pause before an attempt.
            case pause(attempt: Int, length: Duration)
            /// Room in a queue for another operation.
            case room(Scheduler)
        }
    }

    /// The number of suspended tasks of the body.
    var suspendedCount: Int { waits.count { $0.isSuspended } }

    init() {}

    /// Moves the links of the executing body to a new object, and returns that object.
    func splitBody() -> OperationLinks {
        let body = OperationLinks()
        swap(&body.waits, &waits)
        swap(&body.notes, &notes)
        if !limits.isEmpty { (body.limits, limits, body.limitUse) = (limits, [], limitUse) }
        body.permit = permit
        return body
    }

    init(dependencies operations: [AnyTaskOperation]) {
        for operation in operations where dependencies.insert(operation) {
            operation.record.withLock { $0.isWaitedFor = true }
        }
    }
}

// MARK: - Rare links

extension OperationLinks {
    /// The functions to call when the operation has finished, in the order in which they were added.
    var handlers: [@Sendable (AnyTaskOperation) -> Void] {
        get { extras?.handlers ?? [] }
        _modify { yield &madeExtras().handlers }
    }

    /// The waits of the executing body and of its child tasks.
    var waits: [Wait] {
        get { extras?.waits ?? [] }
        _modify { yield &madeExtras().waits }
    }

    /// The waits of the body and its child tasks whose target the library does not know.
    var notes: [OpaqueWait] {
        get { extras?.notes ?? [] }
        _modify { yield &madeExtras().notes }
    }

    /// The use of the body's permit during the body's waits.
    var permit: PermitUse {
        get { extras?.permit ?? .held }
        _modify { yield &madeExtras().permit }
    }

    /// The executor of the body in a queue that has no executor.
    var executor: (any TaskExecutor)? {
        get { extras?.executor }
        _modify { yield &madeExtras().executor }
    }

    /// The task locals that the queue inherited when the operation was added.
    var bindings: [TaskLocalBinding] {
        get { extras?.bindings ?? [] }
        _modify { yield &madeExtras().bindings }
    }

    /// The options of the operation itself, without the defaults of its queue.
    var options: OperationOptions {
        get { extras?.options ?? OperationOptions() }
        _modify { yield &madeExtras().options }
    }

    /// The timers of limits that began when the operation was added.
    var timers: OperationTimers? {
        get { extras?.timers }
        _modify { yield &madeExtras().timers }
    }

    /// The semaphores that limit the operation, in the order in which they are locked. The operation needs a permit of
    /// each.
    var limits: [AsyncSemaphore] {
        get { extras?.limits ?? [] }
        _modify { yield &madeExtras().limits }
    }

    /// The use of the permits of the limits while the body executes.
    var limitUse: LimitUse {
        get { extras?.limitUse ?? .held }
        _modify { yield &madeExtras().limitUse }
    }

    /// The number of waits whose edges are currently being made. Counted only for a body with limits.
    var beginningWaitCount: Int {
        get { extras?.beginningWaitCount ?? 0 }
        _modify { yield &madeExtras().beginningWaitCount }
    }

    /// The bodies other than the first one.
    var addedBodies: AddedBodies? {
        get { extras?.addedBodies }
        _modify { yield &madeExtras().addedBodies }
    }

    /// The progress of the operation, as an object of TaskOperationsExtras; nil until the progress is reported or
    /// requested.
    var progress: Attachment? {
        get { extras?.progress }
        _modify { yield &madeExtras().progress }
    }

    private func madeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }
}

/// Runs a body with a task local set.
typealias TaskLocalBinding = @Sendable (_ body: () async -> Outcome?) async -> Outcome?

/// The links of a finished operation. They are used and released after the operation's lock is released.
struct OperationEnding: Sendable {
    private let links: OperationLinks?
    let isRunnerWorn: Bool
    /// Whether a deadline is pending, which the caller must remove.
    let wasDelayed: Bool

    init(links: OperationLinks?, isRunnerWorn: Bool, wasDelayed: Bool = false) {
        self.links = links
        self.isRunnerWorn = isRunnerWorn
        self.wasDelayed = wasDelayed
    }

    /// Whether the end must be reported to operations, tasks or handlers.
    var hasLinks: Bool { links != nil }

    @inline(__always)
    func forEachDependent(_ body: (AnyTaskOperation) -> Void) {
        links?.dependents.forEach(body)
    }

    var hasHandlers: Bool { links.map { !$0.handlers.isEmpty } ?? false }

    func callHandlers(_ operation: AnyTaskOperation) {
        guard let links else { return }
        for handler in links.handlers { handler(operation) }
    }

    func resumeWaiters() { links?.waiters.resume() }

    /// Removes the edges from the operation to its dependencies, because the operation has ended before they have.
    func leaveDependencies(_ operation: AnyTaskOperation) {
        guard let links, links.dependencies.unfinishedCount > 0 else { return }
        operation.leave(links.dependencies.unlink(), links.dependencies.handOn(nil))
    }
}
