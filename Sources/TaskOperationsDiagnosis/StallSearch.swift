import TaskOperations

/// Finds the chain of waits from the oldest operation of a queue to the culprit.
struct StallSearch {
    private let graph: OperationGraph
    private(set) var chain: [StallReport.Link] = []
    /// The culprit; nil if operations wait only for delays.
    private(set) var culprit: StallReport.Culprit?
    /// The priority of the last operation of the chain.
    private(set) var lastPriority = TaskPriority.medium
    private var visited: Set<Int> = []
    private let targets: [Int: [OperationGraph.Edge]]
    private let indices: [OperationLabel: Int]

    /// - Parameter queue: The queue whose oldest operation is the start of the chain.
    init(_ graph: OperationGraph, from queue: QueueLabel) {
        self.graph = graph
        targets = Dictionary(grouping: graph.edges, by: \.waiter)
        indices = Dictionary(
            graph.operations.enumerated().map { ($1.label, $0) }, uniquingKeysWith: { first, _ in first })
        var next = oldest(of: queue)
        while let index = next, visited.insert(index).inserted { next = follow(index) }
        // The chain is a cycle: its operations wait for each other through a wait that the library does not know.
        if culprit == nil, let index = next { culprit = .body(graph.operations[index].label) }
    }

    private func oldest(of queue: QueueLabel) -> Int? {
        let indices = graph.operations.indices.filter { label(ofQueueOf: $0) == queue }
        // An operation that only waits for a delay is not the cause of a stall.
        return indices.first { !graph.operations[$0].isDelayed }
    }

    private func label(ofQueueOf index: Int) -> QueueLabel? {
        graph.operations[index].queue.map { graph.queues[$0].label }
    }

    /// Returns the operation for which an operation waits, or nil if it waits for the culprit.
    private mutating func follow(_ index: Int) -> Int? {
        let operation = graph.operations[index]
        lastPriority = operation.priority
        let reasons = operation.reasons.sorted { $0.rank < $1.rank }
        guard let reason = reasons.first else {
            culprit = .body(operation.label)
            return nil
        }
        chain.append(.init(operation: operation.label, queue: label(ofQueueOf: index), reason: reason))
        return follow(reason, of: index, operation.label)
    }

    private mutating func follow(_ reason: WaitingReason, of index: Int, _ label: OperationLabel) -> Int? {
        switch reason {
        case .dependency: return target(of: index, .dependency)
        case .barrier, .operationsBefore: return target(of: index, .barrier)
        case .turn: return firstInLine(with: index)
        case .permits(let width, let holders): return follow(width, holders, of: index)
        case .body(let wait): return follow(wait, of: index, label)
        case .suspended(let queue): culprit = .suspension(queue)
        case .notAdded: culprit = .notAdded(label)
        case .outside: culprit = .foreign(label)
        case .room(let queue): return oldest(of: queue)
        case .executor: culprit = .executor(label)
        case .execution, .finished, .cancellation: culprit = .body(label)
        case .priorityLimit: return executing(beside: index)
        case .limit(let text): culprit = .semaphore(text, awaitedBy: label)
        case .delay, .rate: break
        }
        return nil
    }

    /// An executing operation of the same queue and the same priority.
    private func executing(beside index: Int) -> Int? {
        let waiting = graph.operations[index]
        return graph.operations.indices.first { other in
            let operation = graph.operations[other]
            return operation.state == .executing && operation.queue == waiting.queue
                && operation.priority == waiting.priority
        }
    }

    private mutating func follow(_ width: Int, _ holders: [PermitHolder], of index: Int) -> Int? {
        if width == 0, holders.isEmpty {
            culprit = label(ofQueueOf: index).map { .width($0) }
            return nil
        }
        let known = holders.compactMap { indices[$0.operation] }
        // The graph no longer contains an operation whose body has ended.
        if known.isEmpty, let holder = holders.first { culprit = .handler(holder.operation) }
        return known.first { !visited.contains($0) } ?? known.first
    }

    private mutating func follow(_ wait: BodyWait, of index: Int, _ label: OperationLabel) -> Int? {
        switch wait.target {
        case .operation(let target, _): return indices[target]
        case .room(let queue): return oldest(of: queue)
        case .endOfQueue(let queue):
            // The waiting body may itself be on that queue, if a child task of it waits.
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
        return targets.first { !visited.contains($0) } ?? targets.first
    }

    /// The first operation in the order of the queue, which has the reasons for which all operations wait.
    private func firstInLine(with index: Int) -> Int? {
        graph.operations.indices.first { other in
            graph.operations[other].queue == graph.operations[index].queue
                && graph.operations[other].reasons.contains(where: \.isOfFirstInLine)
        }
    }
}

extension OperationGraph.Operation {
    /// Whether the operation waits only for a point in time.
    fileprivate var isDelayed: Bool { !reasons.isEmpty && reasons.allSatisfy(\.endsByItself) }
}

extension WaitingReason {
    /// The rank of a reason. Of several reasons, the search follows the one with the lowest rank.
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

    /// Whether the wait ends at a point in time.
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
