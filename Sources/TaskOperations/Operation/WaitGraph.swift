/// Who waits for whom, over all queues: the search for a wait that could never end.
///
/// Three things wait: an operation for its dependencies, an operation for what its body awaits, and an operation
/// that stands behind a barrier, or is one. An edge that could close a cycle is inserted only under one lock for
/// the whole process, so that two threads cannot close one together. Operations that nothing waits for, which is
/// nearly all of them when their edges are made, never search.
enum WaitGraph {
    /// What it holds means nothing; the thread sanitizer takes the place of an empty value for that of its owner.
    private static let lock = Lock(false)

    static func exclusively<Result: Sendable>(
        _ body: () throws(TaskOperationError) -> Result
    ) throws(TaskOperationError) -> Result {
        try lock.withLock { _ throws(TaskOperationError) in try body() }
    }

    /// The operations on the cycle that would be closed if `waiter` waited for the targets, beginning and ending
    /// with `waiter`; nil if there would be none. Linear in what the targets wait for.
    static func cycle(closedBy waiter: AnyTaskOperation, waitingFor targets: [WaitTarget]) -> [OperationLabel]? {
        if targets.contains(where: { $0.operation === waiter }) {
            return [OperationLabel(waiter), OperationLabel(waiter)]
        }
        let waitsForAll = targets.contains { $0.operation == nil }
        guard waitsForAll || waiter.canBeWaitedFor else { return nil }
        return path(from: targets, to: .operation(waiter)).map { labels(of: $0, around: waiter) }
    }

    /// The operations on the cycle that would be closed if a host, which a body awaits as a whole, came to hold
    /// `newcomer`; nil if there would be none. Linear in what the targets wait for.
    static func cycle(
        closedByAdding newcomer: AnyTaskOperation, waitingFor targets: [WaitTarget], to host: any OperationHost
    ) -> [OperationLabel]? {
        path(from: targets, to: .host(host)).map { labels(of: $0, around: newcomer) }
    }

    /// How one of the targets waits for the goal: all on the way, without the goal.
    private static func path(from targets: [WaitTarget], to goal: WaitTarget) -> [WaitTarget]? {
        var cameFrom: [ObjectIdentifier: WaitTarget?] = [:]
        for target in targets { cameFrom.updateValue(nil, forKey: target.identity) }
        var unexplored = targets
        while let target = unexplored.popLast() {
            for next in target.waitsFor where cameFrom[next.identity] == nil {
                if next.identity == goal.identity { return wayBack(from: target, cameFrom) }
                cameFrom[next.identity] = target
                unexplored.append(next)
            }
        }
        return nil
    }

    private static func wayBack(from last: WaitTarget, _ cameFrom: [ObjectIdentifier: WaitTarget?]) -> [WaitTarget] {
        var path: [WaitTarget] = []
        var step: WaitTarget? = last
        while let target = step {
            path.append(target)
            step = cameFrom[target.identity] ?? nil
        }
        return path.reversed()
    }

    private static func labels(of path: [WaitTarget], around waiter: AnyTaskOperation) -> [OperationLabel] {
        let between = path.compactMap(\.operation).map { OperationLabel($0) }
        return [OperationLabel(waiter)] + between + [OperationLabel(waiter)]
    }
}

/// What can be waited for.
enum WaitTarget: Sendable {
    case operation(AnyTaskOperation)
    /// That a queue is empty.
    case host(any OperationHost)

    var operation: AnyTaskOperation? {
        if case .operation(let operation) = self { operation } else { nil }
    }

    var identity: ObjectIdentifier {
        switch self {
        case .operation(let operation): ObjectIdentifier(operation)
        case .host(let host): ObjectIdentifier(host)
        }
    }

    /// What has to end before this can.
    var waitsFor: [Self] {
        switch self {
        case .host(let host):
            return host.operations.map(Self.operation)
        case .operation(let operation):
            let (dependencies, waits, host) = operation.record.withLock { record in
                (
                    record.links?.dependencies.unfinished ?? [], record.links?.waitsCopy ?? [],
                    record.phase == .submitted ? record.host : nil
                )
            }
            return dependencies.map(Self.operation) + waits
                + (host?.operationsHoldingBack(operation) ?? []).map(Self.operation)
        }
    }
}

extension AnyTaskOperation {
    /// Whether anything waits for this operation, or may do so because of a barrier or a wait for its whole queue.
    fileprivate var canBeWaitedFor: Bool {
        let (isWaitedFor, host) = record.withLock { ($0.isWaitedFor, $0.host) }
        return isWaitedFor || host?.hasImplicitWaits == true
    }
}
