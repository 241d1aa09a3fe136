/// The waits of an operation that it stores itself, at one moment.
struct OperationDetail: Sendable {
    let phase: OperationRecord.Phase
    let isCancelled: Bool
    let isDelayed: Bool
    let isOutside: Bool
    let isPermitLent: Bool
    /// Not yet asked whether they are finished.
    private let dependencyList: DependencyList?
    let waits: [OperationLinks.Wait]
    let notes: [WaitNote]
    private let limits: [AsyncSemaphore]

    init(_ operation: AnyTaskOperation) {
        self = operation.record.withLock { OperationDetail($0) }
    }

    /// The same, with the host of the operation at that moment.
    static func withHost(_ operation: AnyTaskOperation) -> (host: (any OperationHost)?, detail: OperationDetail) {
        operation.record.withLock { ($0.host, OperationDetail($0)) }
    }

    private init(_ record: borrowing OperationRecord) {
        phase = record.phase
        isCancelled = record.isCancelled
        isDelayed = record.isDelayed
        isOutside = record.wasSubmitted && record.phase == .created
        isPermitLent = record.links?.permit == .lent
        dependencyList = record.phase == .finished ? nil : record.links?.dependencies
        waits = record.links?.waits ?? []
        notes = record.links?.notes ?? []
        limits = record.links?.limits ?? []
    }

    /// Its unfinished dependencies.
    var dependencies: [AnyTaskOperation] { dependencyList?.unfinished ?? [] }
}

extension OperationDetail {
    /// The limits that have no permit left; all of them if each has one by now.
    var limitReasons: [WaitingReason] {
        let full = limits.filter { $0.available == 0 }
        return (full.isEmpty ? limits : full).map { .limit($0.waitDescription) }
    }

    /// The waits of the body. The open scope of a body is not awaited yet.
    var bodyWaits: [BodyWait] {
        waits.filter(\.isSuspended).map { BodyWait($0, isPermitLent: isPermitLent) }
            + notes.map { BodyWait($0, isPermitLent: isPermitLent) }
    }
}

extension BodyWait {
    fileprivate init(_ wait: OperationLinks.Wait, isPermitLent: Bool) {
        target =
            switch wait.purpose {
            case .work: .outside
            case .pause(let attempt, let length): .pause(beforeAttempt: attempt, length: length)
            case .room(let host): (host as? Scheduler).map { .room(QueueLabel($0)) } ?? .outside
            case nil: Target(wait.target)
            }
        since = wait.since
        self.isPermitLent = isPermitLent
    }

    fileprivate init(_ note: WaitNote, isPermitLent: Bool) {
        let text = note.subject.waitDescription
        target =
            switch note.kind {
            case .semaphore: .semaphore(text)
            case .completionHandler: .completionHandler(text)
            case .group: .group(text)
            }
        since = note.since
        self.isPermitLent = isPermitLent
    }
}

extension BodyWait.Target {
    fileprivate init(_ node: WaitNode) {
        switch node {
        case .operation(let operation):
            let isNameless = operation.name == nil && OperationDetail(operation).isOutside
            self = isNameless ? .outside : .operation(OperationLabel(operation), queue: operation.queueLabel)
        case .end(let host): self = (host as? Scheduler).map { .endOfQueue(QueueLabel($0)) } ?? .outside
        case .permit: self = .outside
        }
    }
}

extension AnyTaskOperation {
    /// How its queue is called.
    var queueLabel: QueueLabel? { record.withLock { $0.host as? Scheduler }.flatMap { $0.label(of: self) } }
}

extension Scheduler {
    fileprivate nonisolated func label(of operation: AnyTaskOperation) -> QueueLabel? {
        self === Scheduler.withoutQueue ? nil : QueueLabel(self)
    }
}
