/// Runs a body with a task local set; returns what the body failed with.
typealias TaskLocalBinding = @Sendable (_ body: () async -> (any Error)?) async -> (any Error)?

/// All that changes in an operation, behind the operation's lock.
struct OperationRecord: Sendable {
    enum Phase: Comparable, Sendable {
        /// Made, and nowhere added.
        case created
        /// Added to a queue, or started by hand; its body has not begun.
        case submitted
        case executing
        case finished
    }

    /// What a task of an executing body awaits.
    enum WaitTarget: Sendable {
        case operation(AnyTaskOperation)
        /// That a queue is empty.
        case host(any OperationHost)
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
    var dependencies = DependencyList()
    /// Submitted operations that depend on this one. One that dropped the dependency may still be in here.
    var dependents: [AnyTaskOperation] = []
    /// Called when the operation has finished, in the order of adding.
    var handlers: [@Sendable (AnyTaskOperation) -> Void] = []
    /// Tasks that await the end.
    var continuations: [CheckedContinuation<Void, Never>] = []
    var waits: [WaitTarget] = []
    /// Task locals carried from where the operation was added.
    var bindings: [TaskLocalBinding] = []
    var host: (any OperationHost)?
    /// The host's number for the operation; negative until the host has taken it in.
    var slot = -1
    var runner: (any OperationRunner)?
    /// The runner's task was, or is about to be, cancelled or escalated for this operation, and must run no other.
    var isRunnerWorn = false
    /// Why the operation failed; nil in a finished one that succeeded.
    var failure: (any Error)?

    init(level: PriorityLevel) {
        self.level = level
    }

    /// The level that counts.
    var effectiveLevel: PriorityLevel { max(level, escalation) }

    var isReady: Bool { phase == .submitted && dependencies.unfinishedCount == 0 }
}

/// What a finished operation lets go of. It is carried out after the operation's lock is left.
struct OperationEnding: Sendable {
    let dependents: [AnyTaskOperation]
    let host: (any OperationHost)?
    let isRunnerWorn: Bool
    private let handlers: [@Sendable (AnyTaskOperation) -> Void]
    private let continuations: [CheckedContinuation<Void, Never>]
    /// Kept until here, so that nothing is freed under the operation's lock.
    private let dependencies: DependencyList
    private let runner: (any OperationRunner)?

    /// Ends an operation, which lets go of everything but its outcome.
    init(of record: inout OperationRecord, failure: (any Error)?) {
        dependents = record.dependents
        host = record.host
        isRunnerWorn = record.isRunnerWorn
        handlers = record.handlers
        continuations = record.continuations
        dependencies = record.dependencies
        runner = record.runner
        record.phase = .finished
        record.failure = failure
        record.dependents = []
        record.handlers = []
        record.continuations = []
        record.dependencies = DependencyList()
        record.waits = []
        record.bindings = []
        record.host = nil
        record.runner = nil
    }

    var hasHandlers: Bool { !handlers.isEmpty }

    func callHandlers(_ operation: AnyTaskOperation) {
        for handler in handlers { handler(operation) }
    }

    func resumeWaiters() {
        for continuation in continuations { continuation.resume() }
    }
}
