extension OperationGraph {
    /// Captures queues at one moment.
    ///
    /// - Parameter follows: Whether to capture also the other queues for whose operations these wait.
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

    /// Queues are captured one after the other, because an addition takes only one lock. So an operation of the last one may
    /// depend on an operation that was added to the first one after its capture. In this case the queues are captured again,
    /// this number of times. Missing operations are then outside of all queues.
    private static var mostAttempts: Int { 1000 }

    fileprivate struct Builder {
        var graph: OperationGraph
        private var indices: [ObjectIdentifier: Int] = [:]
        /// Awaited operations that are on none of the queues, to be added at the end.
        private var others: [(operation: AnyTaskOperation, detail: OperationDetail)] = []
        private var captures: [ObjectIdentifier: QueueCapture] = [:]
        /// Whether something is waited for that came to one of the queues later.
        private(set) var isTorn = false

        init(_ instant: ContinuousClock.Instant) {
            graph = OperationGraph(instant: instant)
        }

        mutating func build(_ captures: [QueueCapture]) {
            self.captures = Dictionary(uniqueKeysWithValues: captures.map { (ObjectIdentifier($0.scheduler), $0) })
            let reasons = captures.map(\.state.allReasons)
            for (capture, reasons) in zip(captures, reasons) { addOperations(of: capture, reasons) }
            for (capture, reasons) in zip(captures, reasons) { addEdges(of: capture, reasons) }
            addOthers()
        }

        // MARK: Operations

        private mutating func addOperations(
            of capture: QueueCapture, _ all: [(slot: Int, reasons: [Scheduler.State.Reason])]
        ) {
            let queue = graph.queues.count
            graph.queues.append(Queue(capture))
            let holders = capture.holders
            for (slot, reasons) in all {
                let record = capture.state.records[slot]
                indices[ObjectIdentifier(record.element)] = graph.operations.count
                let first =
                    reasons.contains(where: \.isTurn) ? reasons.filter { $0 != .permits && $0 != .worker } : reasons
                graph.operations.append(
                    Operation(
                        label: OperationLabel(record.element), queue: queue, number: record.arrival,
                        state: State(record.status), priority: record.level.taskPriority, weight: record.weight,
                        isBarrier: record.isBarrier, isCancelled: capture.details[slot]?.isCancelled ?? false,
                        reasons: capture.reasons(of: slot, first, holders: holders)))
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
            of capture: QueueCapture, _ all: [(slot: Int, reasons: [Scheduler.State.Reason])]
        ) {
            var sinceBarrier: [Int] = []
            for (slot, reasons) in all {
                let record = capture.state.records[slot]
                let waiter = indices[ObjectIdentifier(record.element)]!
                if let detail = capture.details[slot] { addEdges(from: waiter, detail) }
                for case .barrier(let barrier) in reasons {
                    add(waiter, index(of: capture.state.records[barrier].element), .barrier)
                }
                if record.isBarrier {
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
            // A wait with a purpose has a target that nothing else knows.
            for case .operation(let operation) in detail.waits.filter({ $0.isSuspended && $0.purpose == nil })
                .map(\.target)
            {
                add(waiter, index(of: operation), .wait)
            }
        }

        private mutating func add(_ waiter: Int, _ target: Int?, _ kind: Edge.Kind) {
            if let target { graph.edges.append(Edge(waiter: waiter, target: target, kind: kind)) }
        }

        /// The index of an operation; nil if it was on none of the queues and has finished just now.
        private mutating func index(of operation: AnyTaskOperation) -> Int? {
            let identity = ObjectIdentifier(operation)
            if let index = indices[identity] { return index }
            let (host, detail) = OperationDetail.withHost(operation)
            if detail.phase == .finished { return nil }
            if let host, let capture = captures[ObjectIdentifier(host)], !capture.waitsForRoom(operation) {
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
    /// The queues with operations for which operations of this one wait.
    fileprivate var otherSchedulers: [Scheduler] {
        details.values.flatMap { detail -> [Scheduler] in
            let hosts = detail.dependencies.map { $0.record.withLock { $0.host } }
            let targets = detail.waits.filter(\.isSuspended).map { wait in
                if case .room(let host) = wait.purpose { return host as (any OperationHost)? }
                return switch wait.target {
                case .operation(let operation): operation.record.withLock { $0.host }
                case .end(let host): host
                case .permit: nil
                }
            }
            return (hosts + targets).compactMap { $0 as? Scheduler }
        }
    }
}

extension OperationGraph.Queue {
    fileprivate init(_ capture: QueueCapture) {
        label = capture.queue
        maxConcurrentOperationCount = capture.state.permits.capacity
        permitsTaken = capture.state.permits.taken
        isSuspended = capture.state.isSuspended
        isShutDown = !capture.state.intake.takes
    }
}

extension OperationGraph.State {
    fileprivate init(_ status: Scheduler.State.Status) {
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
            switch detail.phase {
            case .created: .created
            case .submitted: detail.dependencies.isEmpty && !detail.isDelayed ? .ready : .waiting
            case .executing: detail.isPermitLent ? .lent : .executing
            case .finished: .finished
            }
    }
}

extension SchedulerState.Reason {
    fileprivate var isTurn: Bool { if case .turn = self { true } else { false } }
    fileprivate var isOperationsBefore: Bool { if case .operationsBefore = self { true } else { false } }
}
