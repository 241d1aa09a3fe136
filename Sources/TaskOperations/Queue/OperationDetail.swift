import Synchronization

/// The state of an operation and its waits, at one moment.
package struct OperationDetail: Sendable {
    package let isAdded: Bool
    package let isExecuting: Bool
    package let isFinished: Bool
    package let isCancelled: Bool
    package let isDelayed: Bool
    /// Whether the operation represents work that the library does not run.
    package let isOutside: Bool
    package let isPermitLent: Bool
    /// The scheduler of the operation's queue, or `withoutQueue`. Nil if the operation was not added or started.
    package let scheduler: Scheduler?
    /// All dependencies of the operation, finished or unfinished.
    private let dependencyList: DependencyList?
    private let waits: [OperationLinks.Wait]
    private let notes: [OpaqueWait]
    private let limits: [LimitRequest]

    package init(_ operation: AnyTaskOperation) {
        self = operation.record.withLock { OperationDetail($0) }
    }

    private init(_ record: borrowing OperationRecord) {
        isAdded = record.phase == .submitted
        isExecuting = record.phase == .executing
        isFinished = record.phase == .finished
        isCancelled = record.isCancelled
        isDelayed = record.isDelayed
        isOutside = record.wasSubmitted && record.phase == .created
        isPermitLent = record.links?.permit == .lent
        scheduler = record.host
        dependencyList = isFinished ? nil : record.links?.dependencies
        waits = record.links?.waits.all ?? []
        notes = record.links?.notes.all ?? []
        limits = record.links?.limits ?? []
    }

    /// The unfinished dependencies of the operation.
    package var dependencies: [AnyTaskOperation] { dependencyList?.unfinished ?? [] }

    /// The descriptions of the limits that have too few free permits. If every limit has enough free permits, the
    /// descriptions of all limits.
    package var limitDescriptions: [String] {
        let full = limits.filter { !$0.isFree }
        return (full.isEmpty ? limits : full).map(\.waitDescription)
    }

    /// The waits of the body. An open scope is not included while the body does not yet await its end.
    package var bodyWaits: [CapturedWait] {
        waits.filter { $0.isSuspended && !$0.isDescribed }.map(CapturedWait.init) + notes.map(CapturedWait.init)
    }
}

extension OperationLinks.Wait {
    /// Whether an `OpaqueWait` describes the same wait.
    fileprivate var isDescribed: Bool { if case .described = purpose { true } else { false } }
}

/// A wait of a body, with a reference to its target.
package struct CapturedWait: Sendable {
    package enum Target: Sendable {
        case operation(AnyTaskOperation)
        case end(Scheduler)
        case room(Scheduler)
        case semaphore(String)
        case completionHandler(String)
        case group(String)
        case pause(attempt: Int, length: Duration)
        /// Work that the library does not run.
        case outside
    }

    package let target: Target
    package let since: ContinuousClock.Instant

    fileprivate init(_ wait: OperationLinks.Wait) {
        since = wait.since
        target =
            switch (wait.purpose, wait.target) {
            case (.pause(let attempt, let length), _): .pause(attempt: attempt, length: length)
            case (.room(let host), _): .room(host)
            case (nil, .operation(let operation)), (.separatePriorities, .operation(let operation)):
                .operation(operation)
            case (nil, .end(let host)): .end(host)
            case (.work, _), (.described, _), (.separatePriorities, _), (nil, .permit): .outside
            }
    }

    fileprivate init(_ note: OpaqueWait) {
        since = note.since
        let text = note.subject.waitDescription
        target =
            switch note.kind {
            case .semaphore: .semaphore(text)
            case .completionHandler: .completionHandler(text)
            case .group: .group(text)
            }
    }
}
