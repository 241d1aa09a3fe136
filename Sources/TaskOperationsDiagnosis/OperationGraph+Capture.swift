import TaskOperations

extension OperationGraph {
    /// Captures queues at one moment.
    ///
    /// - Parameters:
    ///   - schedulers: The schedulers of the queues.
    ///   - follows: Whether to also capture other queues. These are the queues whose operations are awaited by captured
    ///     operations.
    init(of schedulers: [Scheduler], follows: Bool = false) {
        var schedulers = schedulers
        var attempts = 0
        while true {
            attempts += 1
            let instant = ContinuousClock.now
            let captures = QueueCapture.capture(schedulers)
            let others = follows ? captures.flatMap(\.otherSchedulers) : []
            let new = Dictionary(grouping: others.filter { other in !schedulers.contains { $0 === other } }) {
                ObjectIdentifier($0)
            }
            if new.isEmpty {
                var builder = Builder(instant)
                builder.build(captures)
                if !builder.isTorn || attempts == Self.mostAttempts {
                    self = builder.graph
                    return
                }
            }
            schedulers += new.values.map { $0[0] }.sorted { $0.queueNumber < $1.queueNumber }
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
        private var captures: [ObjectIdentifier: QueueCapture] = [:]
        /// Whether an operation waits for another operation that was added to a queue after the capture of that queue.
        private(set) var isTorn = false

        init(_ instant: ContinuousClock.Instant) {
            graph = OperationGraph(instant: instant)
        }

        mutating func build(_ captures: [QueueCapture]) {
            self.captures = Dictionary(uniqueKeysWithValues: captures.map { (ObjectIdentifier($0.scheduler), $0) })
            let reasons = captures.map(\.allReasons)
            for (capture, reasons) in zip(captures, reasons) { addOperations(of: capture, reasons) }
            for (capture, reasons) in zip(captures, reasons) { addEdges(of: capture, reasons) }
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
                indices[ObjectIdentifier(operation.operation)] = graph.operations.count
                let first =
                    reasons.contains(where: \.isTurn) ? reasons.filter { $0 != .permits && $0 != .worker } : reasons
                graph.operations.append(
                    Operation(
                        label: OperationLabel(operation.operation), queue: queue, number: operation.number,
                        state: State(operation.status), priority: operation.priority, weight: operation.weight,
                        isBarrier: operation.isBarrier, isCancelled: capture.details[slot]?.isCancelled ?? false,
                        reasons: capture.waitingReasons(of: slot, first, holders: holders)))
            }
        }

        private mutating func addOthers() {
            for (operation, detail) in others {
                graph.operations.append(
                    Operation(
                        label: OperationLabel(operation), queue: nil, number: nil, state: State(detail),
                        priority: operation.priority, weight: operation.weight, isBarrier: false,
                        isCancelled: detail.isCancelled, reasons: operation.waitingReasons))
            }
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
                if operation.isBarrier {
                    if reasons.contains(where: \.isOperationsBefore) {
                        for other in sinceBarrier { add(waiter, other, .barrier) }
                    }
                    sinceBarrier = []
                } else {
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
            if detail.isFinished { return nil }
            if let scheduler = detail.scheduler, let capture = captures[ObjectIdentifier(scheduler)],
                !capture.waitsForRoom(operation)
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
    /// The other queues that operations of this queue wait for, including the queues of awaited operations.
    fileprivate var otherSchedulers: [Scheduler] {
        details.values.flatMap { detail -> [Scheduler] in
            let targets = detail.bodyWaits.map { wait -> Scheduler? in
                switch wait.target {
                case .operation(let operation): OperationDetail(operation).scheduler
                case .end(let scheduler), .room(let scheduler): scheduler
                default: nil
                }
            }
            return (detail.dependencies.map { OperationDetail($0).scheduler } + targets).compactMap(\.self)
        }
    }
}

extension OperationGraph.Queue {
    fileprivate init(_ capture: QueueCapture) {
        label = capture.label
        maxConcurrentOperationCount = capture.width
        permitsTaken = capture.permitsTaken
        isSuspended = capture.isSuspended
        isShutDown = capture.isShutDown
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
            if detail.isFinished {
                .finished
            } else if detail.isExecuting {
                detail.isPermitLent ? .lent : .executing
            } else if detail.isAdded {
                detail.dependencies.isEmpty && !detail.isDelayed ? .ready : .waiting
            } else {
                .created
            }
    }
}

extension QueueReason {
    fileprivate var isTurn: Bool { if case .turn = self { true } else { false } }
    fileprivate var isOperationsBefore: Bool { if case .operationsBefore = self { true } else { false } }
}
