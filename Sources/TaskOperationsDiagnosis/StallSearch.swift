import TaskOperations

/// Finds the chain of waits from an operation of a queue to the culprit. The operation is the oldest one whose chain leads
/// to a culprit.
struct StallSearch {
    private let graph: OperationGraph
    private(set) var chain: [StallReport.Link] = []
    /// The culprit; nil if the operations only wait for delays.
    private(set) var culprit: StallReport.Culprit?
    /// The priority of the last operation of the chain.
    private(set) var lastPriority = TaskPriority.medium
    private var visited: Set<Int> = []
    private let targets: [Int: [OperationGraph.Edge]]
    private let indices: [OperationLabel: Int]
    /// The positions of queues in the graph, by their numbers.
    private let queues: [Int: Int]
    /// The first operations of each queue of the graph.
    private var members: [Members]

    /// The first operations of a queue that have a property. Each search for one of them would take linear time, and
    /// the chain may lead over many queues.
    fileprivate struct Members {
        /// The first operation that does not only wait for a delay. Such an operation is not the cause of a stall.
        var oldest: Int?
        /// The operation that the queue starts next. Its reasons also delay all later operations.
        var firstInLine: Int?
        /// The first executing operation of each priority, by the raw value of the priority.
        var executing: [UInt8: Int] = [:]
    }

    /// - Parameters:
    ///   - graph: The operations to search.
    ///   - queue: The queue with one of whose operations the chain begins.
    ///   - young: The numbers of the operations of this queue whose bodies are no culprits, because they have just begun.
    init(_ graph: OperationGraph, from queue: QueueLabel, young: Set<UInt64> = []) {
        self.graph = graph
        targets = Dictionary(grouping: graph.edges, by: \.waiter)
        indices = Dictionary(
            graph.operations.enumerated().map { ($1.label, $0) }, uniquingKeysWith: { first, _ in first })
        queues = Dictionary(
            graph.queues.enumerated().map { ($1.label.number, $0) }, uniquingKeysWith: { first, _ in first })
        members = graph.queues.map { _ in Members() }
        for (index, operation) in graph.operations.enumerated() {
            if let queue = operation.queue { members[queue].add(operation, index) }
        }
        // The first operation may wait for a point in time or for a young body, and a later one for a culprit.
        for (index, operation) in graph.operations.enumerated()
        where operation.queue != nil && operation.queue == queues[queue.number] && !operation.isDelayed {
            search(from: index)
            if case .body(let label)? = culprit, let body = indices[label],
                graph.operations[body].queue == operation.queue,
                graph.operations[body].number.map(young.contains) ?? false
            {
                culprit = nil
            }
            if culprit != nil { return }
        }
    }

    /// Follows the waits of an operation. Each operation is visited once in all searches.
    private mutating func search(from index: Int) {
        if visited.contains(index) { return }
        chain = []
        var next: Int? = index
        while let index = next, visited.insert(index).inserted { next = follow(index) }
        if culprit == nil, let index = next { culprit = culprit(ofCycleAt: index) }
    }

    /// Returns the culprit of a chain that leads back to one of its operations. A body on the cycle must return. If no
    /// operation of the cycle has started, an operation waits for room in a queue whose operations wait for it.
    private func culprit(ofCycleAt index: Int) -> StallReport.Culprit? {
        let first = graph.operations[index].label
        let cycle = chain.drop { $0.operation != first }
        if let link = cycle.first(where: { indices[$0.operation].map { graph.operations[$0].hasStarted } ?? false }) {
            return .body(link.operation)
        }
        for link in cycle { if case .room(let queue) = link.reason { return .room(queue, awaitedBy: link.operation) } }
        return nil
    }

    private func oldest(of queue: QueueLabel) -> Int? { queues[queue.number].flatMap { members[$0].oldest } }

    private func label(ofQueueOf index: Int) -> QueueLabel? {
        graph.operations[index].queue.map { graph.queues[$0].label }
    }

    /// Appends an operation to the chain. Returns the operation for which it waits; nil if it waits for the culprit.
    private mutating func follow(_ index: Int) -> Int? {
        let operation = graph.operations[index]
        lastPriority = operation.priority
        let reasons = operation.reasons.sorted { $0.rank < $1.rank }
        guard let reason = reasons.first else {
            // An operation that ends meanwhile has no reason.
            return nil
        }
        chain.append(.init(operation: operation.label, queue: label(ofQueueOf: index), reason: reason))
        return follow(reason, of: index, operation.label)
    }

    private mutating func follow(_ reason: WaitingReason, of index: Int, _ label: OperationLabel) -> Int? {
        switch reason {
        case .dependency: return target(of: index, .dependency)
        case .barrier, .operationsBefore: return target(of: index, .barrier)
        case .turn: return graph.operations[index].queue.flatMap { members[$0].firstInLine }
        case .permits(_, let width, let holders): return follow(width, holders, of: index)
        case .body(let wait): return follow(wait, of: index, label)
        case .suspended(let queue): culprit = .suspension(queue)
        case .notAdded: culprit = .notAdded(label)
        case .outside: culprit = .foreign(label)
        case .room(let queue): return oldest(of: queue)
        case .executor: culprit = .executor(label)
        case .execution: culprit = .body(label)
        case .cancellation: culprit = self.label(ofQueueOf: index).map { .cancellation($0) }
        case .priorityLimit(let limit):
            let operation = graph.operations[index]
            if limit == 0 {
                culprit = self.label(ofQueueOf: index).map { .priorityLimit($0, awaitedBy: label) }
                return nil
            }
            return operation.queue.flatMap { members[$0].executing[operation.priority.rawValue] }
        case .limit(let text): culprit = .semaphore(text, awaitedBy: label)
        case .delay, .rate, .finished: break
        }
        return nil
    }

    private mutating func follow(_ width: Int, _ holders: [PermitHolder], of index: Int) -> Int? {
        if width == 0, holders.isEmpty {
            culprit = label(ofQueueOf: index).map { .width($0) }
            return nil
        }
        let known = holders.compactMap { indices[$0.operation] }
        // A holder that is missing from the graph has ended its body. Its completion handlers are still running.
        if known.isEmpty, let holder = holders.first { culprit = .handler(holder.operation) }
        return known.first { !visited.contains($0) } ?? known.first
    }

    private mutating func follow(_ wait: BodyWait, of index: Int, _ label: OperationLabel) -> Int? {
        switch wait.target {
        case .operation(let target, _): return indices[target]
        case .room(let queue): return oldest(of: queue)
        case .endOfQueue(let queue):
            // If the wait is in a child task, the waiting body may itself be on that queue.
            let next = oldest(of: queue)
            if next == nil { culprit = .body(label) }
            return next
        case .semaphore(let text): culprit = .semaphore(text, awaitedBy: label)
        case .completionHandler(let text): culprit = .completionHandler(text, awaitedBy: label)
        case .group(let text): culprit = .group(text, awaitedBy: label)
        case .pause: break
        case .outside: culprit = .outside(awaitedBy: label)
        }
        return nil
    }

    private func target(of index: Int, _ kind: OperationGraph.Edge.Kind) -> Int? {
        let targets = targets[index, default: []].filter { $0.kind == kind }.map(\.target)
        return targets.first { !visited.contains($0) && !graph.operations[$0].isDelayed } ?? targets.first
    }
}

extension StallSearch.Members {
    fileprivate mutating func add(_ operation: OperationGraph.Operation, _ index: Int) {
        if oldest == nil, !operation.isDelayed { oldest = index }
        if firstInLine == nil, operation.reasons.contains(where: \.isOfFirstInLine) { firstInLine = index }
        if operation.state == .executing, executing[operation.priority.rawValue] == nil {
            executing[operation.priority.rawValue] = index
        }
    }
}

extension OperationGraph.Operation {
    /// Whether the operation only waits for points in time.
    fileprivate var isDelayed: Bool { !reasons.isEmpty && reasons.allSatisfy(\.endsByItself) }

    fileprivate var hasStarted: Bool {
        switch state {
        case .executing, .lent, .returning: true
        case .created, .waiting, .ready, .finished: false
        }
    }
}

extension WaitingReason {
    /// The rank of a reason. If an operation has several reasons, the search follows the reason with the lowest rank.
    fileprivate var rank: Int {
        switch self {
        case .suspended: 0
        case .dependency: 1
        case .barrier: 2
        case .operationsBefore: 3
        case .turn: 4
        case .permits, .priorityLimit, .limit: 5
        case .body: 6
        case .notAdded, .outside, .room, .executor, .execution, .cancellation, .finished: 7
        case .delay, .rate: 8
        }
    }

    /// Whether the reason ends at a point in time.
    fileprivate var endsByItself: Bool {
        switch self {
        case .delay, .rate: true
        case .body(let wait): if case .pause = wait.target { true } else { false }
        default: false
        }
    }

    fileprivate var isOfFirstInLine: Bool {
        switch self {
        case .permits, .executor: true
        default: false
        }
    }
}
