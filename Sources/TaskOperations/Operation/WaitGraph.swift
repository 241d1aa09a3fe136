/// Who waits for whom, over all queues: the search for a wait that could never end.
///
/// Three things wait: an operation for its dependencies, an operation for what its body awaits, and an operation
/// that stands behind a barrier, or is one. An edge that could close a cycle is inserted only under one lock for
/// the whole process, so that two threads cannot close one together. Operations that nothing waits for, which is
/// nearly all of them when their edges are made, never search.
///
/// Who makes an edge says first that something is waited for, and searches then; who adds an operation puts it into its
/// queue first, and looks then whether something waits for it. So of two who do both at once, one sees the other.
struct WaitGraph: ~Copyable {
    /// What it holds means nothing; the thread sanitizer takes the place of an empty value for that of its owner.
    private static let lock = Lock(false)

    /// What hosts that were looked at have to do, such as starting a task: not with a lock held.
    private var postponed: [() -> Void] = []

    private init() {}

    /// Gives access to the graph that nobody else has meanwhile.
    static func exclusively<Result: Sendable>(
        _ body: (inout WaitGraph) throws(TaskOperationError) -> Result
    ) throws(TaskOperationError) -> Result {
        var graph = WaitGraph()
        defer { graph.doPostponed() }
        return try lock.withLock { _ throws(TaskOperationError) in try body(&graph) }
    }

    /// Gives access to the graph while others change it.
    static func inPassing(_ body: (inout WaitGraph) -> Void) {
        var graph = WaitGraph()
        body(&graph)
        graph.doPostponed()
    }

    /// Has something done after the graph is left.
    mutating func postpone(_ action: @escaping () -> Void) {
        postponed.append(action)
    }

    private func doPostponed() {
        for action in postponed { action() }
    }
}

// MARK: - Cycles

extension WaitGraph {
    /// The operations on the cycle that would be closed if `waiter` waited for the targets, beginning and ending
    /// with `waiter`; nil if there would be none. Linear in what the targets wait for.
    mutating func cycle(closedBy waiter: AnyTaskOperation, waitingFor targets: [WaitTarget]) -> [OperationLabel]? {
        if targets.contains(where: { $0.operation === waiter }) {
            return [OperationLabel(waiter), OperationLabel(waiter)]
        }
        let waitsForAll = targets.contains { $0.operation == nil }
        guard waitsForAll || waiter.canBeWaitedFor else { return nil }
        return cycle(closedByAny: CollectionOfOne(waiter), waitingFor: targets)
    }

    /// The operations on a cycle that would be closed if all of the waiters waited for the targets, beginning and
    /// ending with one of the waiters; nil if there would be none. Linear in what the targets wait for.
    mutating func cycle(
        closedByAny waiters: some Collection<AnyTaskOperation>, waitingFor targets: [WaitTarget]
    ) -> [OperationLabel]? {
        let goals = Set(waiters.map { ObjectIdentifier($0) })
        guard let path = path(from: targets, to: goals), let waiter = path.last?.operation else { return nil }
        return Self.labels(of: path.dropLast(), around: waiter)
    }

    /// The operations on a cycle that would be closed if a host, which a body awaits as a whole, came to hold the
    /// newcomers; nil if there would be none. Linear in what they wait for.
    mutating func cycle(
        closedByAdding newcomers: some Collection<AnyTaskOperation>, to host: any OperationHost
    ) -> [OperationLabel]? {
        var waiters: [ObjectIdentifier: AnyTaskOperation] = [:]
        var targets: [WaitTarget] = []
        // What is in the host already was looked into when it came: a chain that is added one by one stays linear.
        for newcomer in newcomers {
            for dependency in newcomer.dependencies where !dependency.isHeld(by: host) {
                waiters[ObjectIdentifier(dependency)] = newcomer
                targets.append(.operation(dependency))
            }
        }
        guard let path = path(from: targets, to: [ObjectIdentifier(host)]) else { return nil }
        return Self.labels(of: path.dropLast(), around: waiters[path[0].identity]!)
    }

    /// How one of the targets waits for one of the goals: all on the way, from the target to the goal.
    private mutating func path(from targets: [WaitTarget], to goals: Set<ObjectIdentifier>) -> [WaitTarget]? {
        var search = WaitSearch()
        var cameFrom: [ObjectIdentifier: WaitTarget?] = [:]
        for target in targets { cameFrom.updateValue(nil, forKey: target.identity) }
        var unexplored = targets
        while let target = unexplored.popLast() {
            for next in search.waited(for: target, in: &self) where cameFrom[next.identity] == nil {
                cameFrom[next.identity] = target
                if goals.contains(next.identity) { return Self.wayBack(from: next, cameFrom) }
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

    private static func labels(of path: some Sequence<WaitTarget>, around waiter: AnyTaskOperation) -> [OperationLabel]
    {
        let between = path.compactMap(\.operation).map { OperationLabel($0) }
        return [OperationLabel(waiter)] + between + [OperationLabel(waiter)]
    }
}

/// One way through what waits, from waiter to waited for. What stands before a barrier is looked at once for each
/// queue, however many barriers wait for it: a search is linear in what it comes across.
struct WaitSearch {
    /// How far the arrivals of each host were looked at.
    private var looked: [ObjectIdentifier: UInt64] = [:]

    /// What has to end before the target can; not again what stands before a barrier and was given for another one.
    mutating func waited(for target: WaitTarget, in graph: inout WaitGraph) -> [WaitTarget] {
        switch target {
        case .host(let host):
            return host.operations(seenIn: &graph).map(WaitTarget.operation)
        case .operation(let operation):
            let (dependencies, waits, host) = operation.record.withLock { record in
                (
                    record.links?.dependencies.unfinished ?? [], record.links?.waitsCopy ?? [],
                    record.phase == .submitted ? record.host : nil
                )
            }
            return dependencies.map(WaitTarget.operation) + waits
                + (host.map { heldBack(operation, by: $0, in: &graph) } ?? []).map(WaitTarget.operation)
        }
    }

    private mutating func heldBack(
        _ operation: AnyTaskOperation, by host: any OperationHost, in graph: inout WaitGraph
    ) -> [AnyTaskOperation] {
        let seen = looked[ObjectIdentifier(host)] ?? 0
        let (operations, end) = host.operationsHoldingBack(operation, after: seen, seenIn: &graph)
        if end > seen { looked[ObjectIdentifier(host)] = end }
        return operations
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
}

extension AnyTaskOperation {
    fileprivate func isHeld(by host: any OperationHost) -> Bool { record.withLock { $0.host } === host }

    /// Whether anything waits for this operation, or may do so because of a barrier or a wait for its whole queue.
    fileprivate var canBeWaitedFor: Bool {
        let (isWaitedFor, host) = record.withLock { ($0.isWaitedFor, $0.host) }
        return isWaitedFor || host?.hasImplicitWaits == true
    }
}
