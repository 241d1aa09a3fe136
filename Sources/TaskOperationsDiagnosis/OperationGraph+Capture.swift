import TaskOperations

extension OperationGraph {
    /// Captures queues at one moment.
    ///
    /// - Parameters:
    ///   - schedulers: The schedulers of the queues.
    ///   - follows: Whether to also capture other queues. These are the queues whose operations are awaited by captured
    ///     operations.
    init(of schedulers: [Scheduler], follows: Bool = false) {
        self = Self.capture(schedulers, follows: follows, includesProducers: false).graph
    }

    /// Also returns the positions of the operations in the graph.
    ///
    /// - Parameter includesProducers: Whether the graph has the operations that wait for room in the queues.
    static func capture(
        _ schedulers: [Scheduler], follows: Bool, includesProducers: Bool
    ) -> (graph: OperationGraph, operations: [(operation: AnyTaskOperation, index: Int)]) {
        var schedulers = schedulers
        var known = Set(schedulers.map(ObjectIdentifier.init))
        var attempts = 0
        while true {
            attempts += 1
            let instant = ContinuousClock.now
            let captures = QueueCapture.capture(schedulers)
            var new = follows ? captures.flatMap { $0.otherSchedulers { known.insert($0).inserted } } : []
            if new.isEmpty {
                var builder = Builder(instant)
                builder.build(captures, includesProducers: includesProducers)
                if !builder.isTorn || attempts == Self.mostAttempts {
                    return (builder.graph, builder.operations)
                }
            }
            // Follows the new queues one by one. If all queues were captured again for each queue of a chain, the time
            // would be quadratic.
            while !new.isEmpty {
                schedulers += new
                new = new.flatMap { scheduler in
                    QueueCapture.capture(CollectionOfOne(scheduler)).flatMap {
                        $0.otherSchedulers { known.insert($0).inserted }
                    }
                }
            }
            schedulers.sort { $0.queueNumber < $1.queueNumber }
        }
    }

    /// The maximum number of attempts to capture all queues.
    ///
    /// Queues are captured one after the other, because an addition locks only one queue. Meanwhile an operation may be
    /// added to a queue that was already captured. If a captured operation waits for that operation, all queues are
    /// captured again. After the last attempt, missing operations are shown outside of all queues.
    private static var mostAttempts: Int { 1000 }

    fileprivate struct Builder {
        var graph: OperationGraph
        private var indices: [ObjectIdentifier: Int] = [:]
        /// Awaited operations that are on none of the captured queues. They are added at the end.
        private var others: [(operation: AnyTaskOperation, detail: OperationDetail)] = []
        /// The captured queues, by number.
        private var captures: [Int: QueueCapture] = [:]
        /// The operations that wait for room in the captured queues.
        private var producers: Set<ObjectIdentifier> = []
        /// The operations of the queues, in the order of their positions.
        private var members: [AnyTaskOperation] = []
        /// The operations of the queues and the others, with their positions.
        var operations: [(operation: AnyTaskOperation, index: Int)] {
            (members + others.map(\.operation)).enumerated().map { ($1, $0) }
        }

        /// Whether an operation waits for another operation that was added to a queue after the capture of that queue.
        private(set) var isTorn = false

        init(_ instant: ContinuousClock.Instant) {
            graph = OperationGraph(instant: instant)
        }

        mutating func build(_ captures: [QueueCapture], includesProducers: Bool) {
            self.captures = Dictionary(uniqueKeysWithValues: captures.map { ($0.label.number, $0) })
            producers = Set(captures.flatMap { $0.operationsWaitingForRoom.map(ObjectIdentifier.init) })
            let reasons = captures.map(\.allReasons)
            for (capture, reasons) in zip(captures, reasons) { addOperations(of: capture, reasons) }
            for (capture, reasons) in zip(captures, reasons) { addEdges(of: capture, reasons) }
            if includesProducers {
                for producer in captures.flatMap(\.operationsWaitingForRoom) { _ = index(of: producer) }
            }
            addOthers()
        }

        // MARK: Operations

        private mutating func addOperations(
            of capture: QueueCapture, _ all: [(slot: Int, reasons: [QueueReason])]
        ) {
            let queue = graph.queues.count
            graph.queues.append(Queue(capture))
            let holders = capture.permitHolders
            for (slot, reasons) in all {
                let operation = capture.operation(at: slot)
                indices[ObjectIdentifier(operation.operation)] = members.count
                members.append(operation.operation)
                let first = reasons.contains(where: \.isTurn) ? reasons.filter { !$0.isOfFirstInLine } : reasons
                graph.operations.append(
                    Operation(
                        label: OperationLabel(operation.operation), queue: queue, number: operation.number,
                        state: State(operation.status), priority: operation.priority, weight: operation.weight,
                        isBarrier: operation.isBarrier, isCancelled: capture.details[slot]?.isCancelled ?? false,
                        reasons: capture.waitingReasons(of: slot, first, holders: holders),
                        limits: [Limit](capture.details[slot])))
            }
        }

        private mutating func addOthers() {
            let reasons = reasonsOfOthers
            for (operation, detail) in others {
                graph.operations.append(
                    Operation(
                        label: OperationLabel(operation), queue: nil, number: nil, state: State(detail),
                        priority: operation.priority, weight: operation.weight, isBarrier: false,
                        isCancelled: detail.isCancelled,
                        reasons: reasons[ObjectIdentifier(operation)] ?? operation.waitingReasons,
                        limits: [Limit](detail)))
            }
        }

        /// The reasons of awaited operations on other queues, and of awaited operations that wait for room. Each queue
        /// is captured once, because `waitingReasons` takes linear time in the number of operations of the queue.
        private var reasonsOfOthers: [ObjectIdentifier: [WaitingReason]] {
            var reasons: [ObjectIdentifier: [WaitingReason]] = [:]
            var groups: [ObjectIdentifier: (scheduler: Scheduler, operations: [AnyTaskOperation])] = [:]
            for (operation, detail) in others {
                guard let scheduler = detail.scheduler else { continue }
                if let capture = captures[scheduler.queueNumber] {
                    if producers.contains(ObjectIdentifier(operation)) {
                        reasons[ObjectIdentifier(operation)] = [.room(capture.label)]
                    }
                } else {
                    groups[ObjectIdentifier(scheduler), default: (scheduler, [])].operations.append(operation)
                }
            }
            for (scheduler, operations) in groups.values {
                let (capture, slots) = QueueCapture.capture(scheduler, for: operations)
                let (all, holders) = (Dictionary(uniqueKeysWithValues: capture.allReasons), capture.permitHolders)
                let producers = Set(capture.operationsWaitingForRoom.map(ObjectIdentifier.init))
                for (operation, slot) in zip(operations, slots) {
                    if let slot, let own = all[slot] {
                        reasons[ObjectIdentifier(operation)] = capture.waitingReasons(of: slot, own, holders: holders)
                    } else if producers.contains(ObjectIdentifier(operation)) {
                        reasons[ObjectIdentifier(operation)] = [.room(capture.label)]
                    }
                }
            }
            return reasons
        }

        // MARK: Edges

        private mutating func addEdges(
            of capture: QueueCapture, _ all: [(slot: Int, reasons: [QueueReason])]
        ) {
            var sinceBarrier: [Int] = []
            for (slot, reasons) in all {
                let operation = capture.operation(at: slot)
                let waiter = indices[ObjectIdentifier(operation.operation)]!
                if let detail = capture.details[slot] { addEdges(from: waiter, detail) }
                for case .barrier(let barrier) in reasons {
                    add(waiter, index(of: capture.operation(at: barrier).operation), .barrier)
                }
                if reasons.contains(where: \.isOperationsBefore) {
                    for other in sinceBarrier { add(waiter, other, .barrier) }
                    sinceBarrier = []
                } else if !operation.isBarrier {
                    sinceBarrier.append(waiter)
                }
            }
        }

        private mutating func addEdges(from waiter: Int, _ detail: OperationDetail) {
            for dependency in detail.dependencies { add(waiter, index(of: dependency), .dependency) }
            for case .operation(let operation) in detail.bodyWaits.map(\.target) {
                add(waiter, index(of: operation), .wait)
            }
        }

        private mutating func add(_ waiter: Int, _ target: Int?, _ kind: Edge.Kind) {
            if let target { graph.edges.append(Edge(waiter: waiter, target: target, kind: kind)) }
        }

        /// Returns the index of an operation. Returns nil if the operation is on none of the captured queues and has
        /// finished.
        private mutating func index(of operation: AnyTaskOperation) -> Int? {
            let identity = ObjectIdentifier(operation)
            if let index = indices[identity] { return index }
            let detail = OperationDetail(operation)
            if detail.state == .finished { return nil }
            if let scheduler = detail.scheduler, captures[scheduler.queueNumber] != nil,
                !producers.contains(identity)
            {
                isTorn = true
            }
            let index = graph.operations.count + others.count
            indices[identity] = index
            others.append((operation, detail))
            return index
        }
    }
}

extension QueueCapture {
    /// The queues that operations of this queue wait for, including the queues of awaited operations, if they are
    /// included.
    fileprivate func otherSchedulers(_ isIncluded: (ObjectIdentifier) -> Bool) -> [Scheduler] {
        details.values.flatMap { detail -> [Scheduler] in
            let targets = detail.bodyWaits.map { wait -> Scheduler? in
                switch wait.target {
                case .operation(let operation): OperationDetail(operation).scheduler
                case .end(let scheduler), .room(let scheduler): scheduler
                default: nil
                }
            }
            let all = detail.dependencies.map { OperationDetail($0).scheduler } + targets
            return all.compactMap(\.self).filter { isIncluded(ObjectIdentifier($0)) }
        }
    }
}

extension OperationGraph.Queue {
    fileprivate init(_ capture: QueueCapture) {
        label = capture.label
        (maxConcurrentOperationCount, permitsTaken) = capture.width
        (isSuspended, isShutDown) = capture.control
    }
}

extension [OperationGraph.Limit] {
    /// - Parameter detail: The detail of the operation; nil if the operation has no limits.
    fileprivate init(_ detail: OperationDetail?) {
        self = detail?.limitTexts.map { .init(name: $0.semaphore.name, key: $0.key, weight: $0.weight) } ?? []
    }
}

extension OperationGraph.State {
    fileprivate init(_ status: OperationStatus) {
        self =
            switch status {
            case .waiting: .waiting
            case .ready: .ready
            case .executing: .executing
            case .lent: .lent
            case .returning: .returning
            }
    }

    fileprivate init(_ detail: OperationDetail) {
        self =
            switch detail.state {
            case nil: .created
            case .waiting: .waiting
            case .ready: .ready
            case .executing: detail.isPermitLent ? .lent : .executing
            case .finished: .finished
            }
    }
}

extension QueueReason {
    fileprivate var isOfFirstInLine: Bool {
        switch self {
        case .permits, .worker: true
        default: false
        }
    }
    fileprivate var isTurn: Bool { if case .turn = self { true } else { false } }
    fileprivate var isOperationsBefore: Bool { if case .operationsBefore = self { true } else { false } }
}
