public import TaskDump
import TaskOperations

extension TaskDump.Explainer {
    /// Describes waits for operations, for room in queues, and for permits of semaphores and limits.
    ///
    /// The queues are captured one after the other. This takes linear time in the number of their operations.
    public static var operations: Self {
        Self(overview: { "\(OperationWaits([]).graph)" }) { OperationWaits($0).explanations }
    }
}

/// The operations and semaphores for which tasks wait, and the tasks that must continue first.
private struct OperationWaits {
    private let candidates: [TaskDump.Candidate]
    let graph: OperationGraph
    /// The positions of operations in the graph, by their addresses.
    private let indices: [UInt: Int]
    private let details: [Int: OperationDetail]
    private let labels: [OperationLabel: Int]
    private let targets: [Int: [OperationGraph.Edge]]
    /// The operations whose bodies execute, by queue.
    private let executing: [Int: [Int]]
    /// The tasks in whose memory a call of `withPermit` refers to a semaphore, by the address of the semaphore. Permits
    /// of keys are left out: the key is not known.
    private let holders: [UInt: [UInt]]

    init(_ candidates: [TaskDump.Candidate]) {
        self.candidates = candidates
        let (graph, operations) = OperationGraph.capture(Scheduler.all, follows: false, includesProducers: true)
        self.graph = graph
        indices = Dictionary(
            operations.map { (address($0.operation), $0.index) }, uniquingKeysWith: { first, _ in first })
        let details = Dictionary(
            operations.map { ($0.index, OperationDetail($0.operation)) }, uniquingKeysWith: { first, _ in first })
        self.details = details
        labels = Dictionary(
            graph.operations.enumerated().map { ($1.label, $0) }, uniquingKeysWith: { first, _ in first })
        targets = Dictionary(grouping: graph.edges, by: \.waiter)
        holders = Self.holders(candidates)
        executing = Dictionary(
            grouping: graph.operations.indices.filter { graph.operations[$0].queue != nil && details[$0]?.task != nil },
            by: { graph.operations[$0].queue! })
    }

    var explanations: [TaskDump.Explanation] { candidates.compactMap(explanation) }

    private func explanation(of candidate: TaskDump.Candidate) -> TaskDump.Explanation? {
        guard candidate.isWaiting else { return nil }
        // A task that waits in a call of the program is explained by that call.
        let inner = candidate.innerFrames
        guard !inner.isEmpty else { return nil }
        if inner.contains(where: { $0.function.includes("AsyncSemaphore") }), let semaphore = Self.semaphore(in: inner)
        {
            let hasKey = inner.contains { $0.function.includes("key:") }
            return TaskDump.Explanation(
                task: candidate.task, text: "for permits of an AsyncSemaphore",
                holders: hasKey ? [] : holders(of: semaphore))
        }
        guard
            let index = TaskDump.Candidate.reference(in: inner, isSought: { address, _ in indices[address] != nil })
                .map({ indices[$0]! })
        else { return nil }
        let operation = graph.operations[index]
        let reasons = operation.reasons.map { "\($0)" }.joined(separator: ", and ")
        var visited: Set<Int> = []
        return TaskDump.Explanation(
            task: candidate.task, text: "for \(operation.label)" + (reasons.isEmpty ? "" : ", which \(reasons)"),
            holders: tasks(before: index, &visited))
    }

    // MARK: Operations

    /// The tasks that must continue before an operation can end.
    private func tasks(before index: Int, _ visited: inout Set<Int>) -> [UInt] {
        var (found, pending) = ([UInt](), [index])
        while let next = pending.popLast() {
            guard visited.insert(next).inserted else { continue }
            if let task = details[next]?.task {
                found.append(task)
                continue
            }
            pending += targets[next, default: []].map(\.target)
            for reason in graph.operations[next].reasons { pending += operations(before: next, reason, &found) }
        }
        return found
    }

    /// The operations that must end because of one reason. Tasks that hold permits of a limit are added to `found`.
    private func operations(before index: Int, _ reason: WaitingReason, _ found: inout [UInt]) -> [Int] {
        switch reason {
        case .permits(_, _, let holders): return holders.compactMap { labels[$0.operation] }
        case .turn, .priorityLimit: return graph.operations[index].queue.flatMap { executing[$0] } ?? []
        case .room(let queue):
            return graph.queues.firstIndex { $0.label == queue }.flatMap { executing[$0] } ?? []
        case .limit:
            let limits = details[index]?.semaphores ?? []
            for limit in limits { found += holders(of: address(limit)) }
            return executing.values.joined().filter { other in
                other != index
                    && details[other]?.semaphores.contains { semaphore in limits.contains { $0 === semaphore } }
                        ?? false
                    && shareKeys(index, other)
            }
        default: return []
        }
    }

    /// Whether permits of one of two operations can lack the other one.
    private func shareKeys(_ one: Int, _ other: Int) -> Bool {
        let keys = graph.operations[one].limits.map(\.key)
        return graph.operations[other].limits.contains { $0.key == nil || keys.contains(nil) || keys.contains($0.key) }
    }

    // MARK: Semaphores

    private static func semaphore(in frames: [TaskDump.Candidate.Frame]) -> UInt? {
        let type = unsafeBitCast(AsyncSemaphore.self as AnyObject.Type, to: UInt.self)
        return TaskDump.Candidate.reference(in: frames) { _, content in content() == type }
    }

    /// The tasks that hold permits of a semaphore, and do not wait for it.
    private func holders(of semaphore: UInt) -> [UInt] { holders[semaphore] ?? [] }

    private static func holders(_ candidates: [TaskDump.Candidate]) -> [UInt: [UInt]] {
        var holders: [UInt: [UInt]] = [:]
        for candidate in candidates {
            for frame in candidate.frames.dropFirst(candidate.innerFrames.count)
            where frame.function.includes("AsyncSemaphore.withPermit") && !frame.function.includes("key:") {
                if let semaphore = semaphore(in: [frame]) { holders[semaphore, default: []].append(candidate.task) }
            }
        }
        return holders
    }
}

extension OperationDetail {
    fileprivate var semaphores: [AsyncSemaphore] { limitTexts.map(\.semaphore) }
}

private func address(_ object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }
