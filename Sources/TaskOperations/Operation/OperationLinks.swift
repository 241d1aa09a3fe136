/// The links of an operation: to other operations, and to tasks that wait for it.
///
/// Rare links are in an object of their own: eight empty collections would be a tenth of the cost of a link of a chain.
final class OperationLinks: @unchecked Sendable {
    // One record owns this object, and accesses it only under its lock. So accesses need no check for exclusivity at
    // run time, which would be a tenth of the cost of a dependency in a chain.

    @exclusivity(unchecked) var dependencies = DependencyList()
    /// Submitted operations that depend on this one.
    @exclusivity(unchecked) var dependents = OperationList<Void>()
    /// Tasks that await the end.
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
        /// Whether a task of the body is suspended in the wait. The body of an open scope will await the end of the scope,
        /// but is not suspended yet.
        let isSuspended: Bool
        /// The purpose of the wait, if it does not follow from the target.
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

    /// How many tasks of the body are suspended.
    var suspendedCount: Int { waits.count { $0.isSuspended } }

    init() {}

    /// Moves the links of the executing body to links of its own.
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
    /// Called when the operation has finished, in the order of adding.
    var handlers: [@Sendable (AnyTaskOperation) -> Void] {
        get { extras?.handlers ?? [] }
        _modify { yield &madeExtras().handlers }
    }

    /// The waits of the executing body and of its child tasks.
    var waits: [Wait] {
        get { extras?.waits ?? [] }
        _modify { yield &madeExtras().waits }
    }

    /// Their other waits.
    var notes: [OpaqueWait] {
        get { extras?.notes ?? [] }
        _modify { yield &madeExtras().notes }
    }

    /// The use of the body's permit during these waits.
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

    /// The limits of time that began when the operation was added.
    var timers: OperationTimers? {
        get { extras?.timers }
        _modify { yield &madeExtras().timers }
    }

    /// Semaphores of each of which the operation needs a permit, in the order in which they are locked.
    var limits: [AsyncSemaphore] {
        get { extras?.limits ?? [] }
        _modify { yield &madeExtras().limits }
    }

    /// The use of the permits of the limits while the body executes.
    var limitUse: LimitUse {
        get { extras?.limitUse ?? .held }
        _modify { yield &madeExtras().limitUse }
    }

    /// The number of waits, of a body with limits, whose edges are being made.
    var beginningWaitCount: Int {
        get { extras?.beginningWaitCount ?? 0 }
        _modify { yield &madeExtras().beginningWaitCount }
    }

    /// The bodies beside the first one.
    var addedBodies: AddedBodies? {
        get { extras?.addedBodies }
        _modify { yield &madeExtras().addedBodies }
    }

    /// The progress of the operation, which TaskOperationsExtras keeps; nil until it is reported or requested.
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
    /// Whether a deadline was pending, which has to be removed.
    let wasDelayed: Bool

    init(links: OperationLinks?, isRunnerWorn: Bool, wasDelayed: Bool = false) {
        self.links = links
        self.isRunnerWorn = isRunnerWorn
        self.wasDelayed = wasDelayed
    }

    /// Whether the end has to be reported to anything other than the host.
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

    /// Removes the edges to its dependencies, because the operation has ended before them.
    func leaveDependencies(_ operation: AnyTaskOperation) {
        guard let links, links.dependencies.unfinishedCount > 0 else { return }
        operation.leave(links.dependencies.unlink(), links.dependencies.handOn(nil))
    }
}
