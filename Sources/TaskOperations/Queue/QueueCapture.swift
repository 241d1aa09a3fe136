/// The state of a queue at one moment, with the details of its operations. TaskOperationsDiagnosis turns captures into
/// explanations.
package struct QueueCapture: Sendable {
    package struct Operation: Sendable {
        package let operation: AnyTaskOperation
        /// The number of the operation in its queue. The first operation has the number 1.
        package let number: UInt64
        package let status: OperationStatus
        package let priority: TaskPriority
        package let weight: Int
        package let isBarrier: Bool
        /// The time at which the operation started; nil if the queue was not observed at that time.
        package let startTime: ContinuousClock.Instant?
    }

    package let scheduler: Scheduler
    package let label: QueueLabel
    private let state: Scheduler.State
    private let startTimes: [UInt64: Moment]
    private let suspensionSource: Scheduler?
    /// The details by slot. Contains all operations, or only the requested operations.
    package private(set) var details: [Int: OperationDetail] = [:]

    private init(_ capture: Scheduler.Capture) {
        scheduler = capture.scheduler
        state = capture.state
        startTimes = capture.startTimes
        suspensionSource = capture.suspensionSource
        label = QueueLabel(capture.scheduler)
    }

    /// Captures queues and their contents at one moment.
    package static func capture(_ schedulers: some Sequence<Scheduler>) -> [QueueCapture] {
        Scheduler.capture(schedulers) { captures in
            captures.map { capture in
                var queue = QueueCapture(capture)
                for slot in queue.state.records.slots { queue.addDetail(of: slot) }
                return queue
            }
        }
    }

    /// Captures a queue and some of its operations.
    ///
    /// - Returns: The capture, and the slots of the operations. The slot of an operation that is no longer in the queue
    ///   is nil.
    package static func capture(
        _ scheduler: Scheduler, for operations: [AnyTaskOperation]
    ) -> (QueueCapture, slots: [Int?]) {
        Scheduler.capture(CollectionOfOne(scheduler)) { captures in
            var queue = QueueCapture(captures[0])
            let slots = operations.map { operation -> Int? in
                let slot = operation.snapshot.slot
                let isHere =
                    slot >= 0 && queue.state.records.holds(slot) && queue.state.records[slot].element === operation
                    && !queue.state.finishing.contains(slot)
                if isHere { queue.addDetail(of: slot) }
                return isHere ? slot : nil
            }
            return (queue, slots)
        }
    }

    private mutating func addDetail(of slot: Int) {
        details[slot] = OperationDetail(state.records[slot].element)
    }

    // MARK: The queue

    package var width: Int { state.width.capacity }
    package var permitsTaken: Int { state.width.taken }
    package var isSuspended: Bool { state.isSuspended }
    package var isShutDown: Bool { !state.acceptance.intake.accepts }
    /// The operations that hold permits, in the order of arrival.
    package var holders: [Operation] { state.permitHolders.map(operation) }
    /// The time until the rate of the queue lets an operation start.
    package var timeToNextStart: Duration {
        state.pace.rate.map { max(.zero, $0.nextStart - state.pace.time.now) } ?? .zero
    }

    /// The operations that wait for room in the queue, in the order of their arrival.
    package var operationsWaitingForRoom: [AnyTaskOperation] { state.acceptance.producers.all.map(\.element) }

    /// The label of the queue that must be resumed before a suspended queue starts operations. It is the label of this
    /// queue, or of the outermost suspended queue that it follows. Other queues are read after the capture.
    package var suspendedQueue: QueueLabel {
        var (suspended, next) = (scheduler, suspensionSource)
        while let outer = next, outer.isSuspended { (suspended, next) = (outer, outer.suspensionSource) }
        return QueueLabel(suspended)
    }

    // MARK: Operations

    package func operation(at slot: Int) -> Operation {
        let record = state.records[slot]
        return Operation(
            operation: record.element, number: state.number(of: slot), status: record.status,
            priority: record.level.taskPriority, weight: record.weight, isBarrier: record.isBarrier,
            startTime: startTimes[state.number(of: slot)]?.instant)
    }

    /// The maximum number of permits that operations of the same priority as this operation may take.
    package func priorityLimit(of slot: Int) -> Int {
        state.permits.caps?[state.records[slot].level].capacity ?? state.width.capacity
    }

    /// The reasons why one operation does not start or continue. Takes linear time in the number of operations.
    package func reasons(of slot: Int) -> [QueueReason] { state.reasons(of: slot) }

    /// The unfinished operations, with their reasons, in the order of arrival. Sorts the operations.
    package var allReasons: [(slot: Int, reasons: [QueueReason])] { state.allReasons }
}

extension Scheduler {
    /// Whether this is the scheduler of operations that are started without a queue.
    package nonisolated var isWithoutQueue: Bool { self === Scheduler.withoutQueue }
}
