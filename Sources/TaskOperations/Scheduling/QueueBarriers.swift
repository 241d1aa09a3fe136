/// The state of a queue for barriers and for waits until the queue is empty.
struct QueueBarriers: Sendable {
    var line: BarrierLine
    /// The ready operations that a barrier holds back, except barriers. All of them are inserted at one level, so that
    /// only their arrivals order them.
    var heldBack = ReadyQueue()
    /// The levels that operations inherit through barriers and from waits until the queue is empty.
    var floors = BarrierInheritance()
    /// The operations that have not ended, in the order of arrival. Nil before the first use, and after the queue was
    /// empty.
    var inArrivalOrder: ArrivalIndex?

    /// - Parameters:
    ///   - count: The number of operations in the queue. None of them is a barrier.
    ///   - lowestLevel: The lowest level of these operations; nil if the queue is empty.
    init(behind count: Int, lowestLevel: PriorityLevel?) {
        line = BarrierLine(unfinished: count)
        if let lowestLevel { floors.note(lowestLevel) }
    }

    static var heldBackLevel: PriorityLevel { .medium }

    /// The floor of an operation; see `BarrierInheritance`.
    func floor<Element>(of operation: QueuedOperation<Element>) -> PriorityLevel {
        floors.isIdle ? .background : floors.level(of: operation.arrival, isBarrier: operation.isBarrier, line)
    }
}
