/// The state of a queue for barriers and for waits until the queue is empty.
struct QueueBarriers: Sendable {
    var line: BarrierLine
    /// The ready operations behind a barrier, without barriers. All are at the same level, so that only their arrivals
    /// order them.
    var heldBack = ReadyQueue()
    /// The levels inherited through barriers and from waits until the queue is empty.
    var floors = BarrierInheritance()
    /// The operations that have not ended, in the order of arrival. Kept from the first use until the queue is empty.
    var inArrivalOrder: ArrivalIndex?

    /// - Parameters:
    ///   - count: The number of operations in the queue. None of them is a barrier.
    ///   - lowestLevel: The lowest level of these operations; nil if the queue is empty.
    init(behind count: Int, lowestLevel: PriorityLevel?) {
        line = BarrierLine(unfinished: count)
        if let lowestLevel { floors.note(lowestLevel) }
    }

    static var heldBackLevel: PriorityLevel { .medium }

    /// The level that an operation inherits through barriers and from waits until the queue is empty.
    func floor<Element>(of operation: QueuedOperation<Element>) -> PriorityLevel {
        floors.isIdle ? .background : floors.level(of: operation.arrival, isBarrier: operation.isBarrier, line)
    }
}
