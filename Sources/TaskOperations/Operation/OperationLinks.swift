/// What ties an operation to others and to the tasks that wait for it.
final class OperationLinks: @unchecked Sendable {
    // One record owns it, and reaches it under its lock only. That is also why accesses are not checked while running:
    // it would be a tenth of what a link of a chain costs.

    @exclusivity(unchecked) var dependencies = DependencyList()
    /// Submitted operations that depend on this one.
    @exclusivity(unchecked) var dependents = OperationList<Void>()
    /// Called when the operation has finished, in the order of adding.
    @exclusivity(unchecked) var handlers: [@Sendable (AnyTaskOperation) -> Void] = []
    /// Tasks that await the end.
    @exclusivity(unchecked) var waiters = WaiterList()
    /// What the executing body, and child tasks of it, await.
    @exclusivity(unchecked) var waits: [Wait] = []
    /// What they await besides.
    @exclusivity(unchecked) var notes: [WaitNote] = []
    /// What becomes of the body's permit meanwhile.
    @exclusivity(unchecked) var permit = PermitUse.held
    /// The levels that waiters and dependents hand on.
    @exclusivity(unchecked) var contributions = LevelContributions()
    /// Where the body runs in a queue that does not say so itself.
    @exclusivity(unchecked) var executor: (any TaskExecutor)?
    /// Task locals carried from where the operation was added.
    @exclusivity(unchecked) var bindings: [TaskLocalBinding] = []
    /// What runs beside the first body.
    @exclusivity(unchecked) var addedBodies: AddedBodies?
    /// How far the operation has come, if it has told that or anything has asked.
    @exclusivity(unchecked) var progress: ProgressUnit?

    /// A wait of a body.
    struct Wait: Sendable {
        let target: WaitNode
        /// Whether a task of the body is suspended in it. The body of an open scope will await the scope's end, and may
        /// go on until then.
        let isSuspended: Bool
        /// The level that the target inherits from the body; nil if it inherits none.
        var handedOn: PriorityLevel?
        let since = ContinuousClock.now
    }

    /// How many tasks of the body are suspended.
    var suspendedCount: Int { waits.count { $0.isSuspended } }

    init() {}

    init(dependencies operations: [AnyTaskOperation]) {
        for operation in operations where dependencies.insert(operation) {
            operation.record.withLock { $0.isWaitedFor = true }
        }
    }
}

/// Runs a body with a task local set.
typealias TaskLocalBinding = @Sendable (_ body: () async -> Outcome?) async -> Outcome?

/// What a finished operation lets go of. It is carried out, and freed, after the operation's lock is left.
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

    /// Whether anything but the host has to learn of the end.
    var hasLinks: Bool { links != nil }

    @inline(__always)
    func forEachDependent(_ body: (AnyTaskOperation) -> Void) { links?.dependents.forEach(body) }

    var hasHandlers: Bool { links.map { !$0.handlers.isEmpty } ?? false }

    func callHandlers(_ operation: AnyTaskOperation) {
        guard let links else { return }
        for handler in links.handlers { handler(operation) }
    }

    func resumeWaiters() { links?.waiters.resume() }

    /// The operation has ended before its dependencies: they no longer hand anything on to it, nor it to them.
    func leaveDependencies(_ operation: AnyTaskOperation) {
        guard let links, links.dependencies.unfinishedCount > 0 else { return }
        operation.leave(links.dependencies.unlink(), links.dependencies.handOn(nil))
    }
}
