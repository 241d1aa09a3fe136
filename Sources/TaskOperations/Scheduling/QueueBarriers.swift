/// The state of a queue for barriers and for waits until the queue is empty.
struct QueueBarriers: Sendable {
    var line: BarrierLine
    /// The slots of the barriers whose delays are not over. They are not in the line, and hold back no operation.
    var delayed: Set<Int> = []
    /// The first arrivals of operations that have arrived again, by slot.
    var numbers: [Int: UInt64] = [:]
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

    /// The floor of the operation at a slot; see `BarrierInheritance`.
    func floor<Element>(of operation: QueuedOperation<Element>, at slot: Int) -> PriorityLevel {
        if floors.isIdle { return .background }
        if delayed.contains(slot) { return floors.ofEnd }
        return floors.level(of: operation.arrival, isBarrier: operation.isBarrier, line)
    }
}
