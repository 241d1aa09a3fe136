/// Everything that a queue keeps for barriers and for waits until it is empty.
struct QueueBarriers: Sendable {
    var line: BarrierLine
    /// Ready operations behind a barrier, all at one level: only their arrival orders them. Barriers are not among them.
    var heldBack = ReadyQueue()
    /// The levels inherited through barriers and from waits until the queue is empty.
    var floors = BarrierInheritance()
    /// The operations that have not ended, in the order of arrival. Kept from the first use until the queue is empty.
    var inArrivalOrder: ArrivalIndex?

    /// - Parameters:
    ///   - count: The number of operations in the queue, none of which is a barrier.
    ///   - lowestLevel: The lowest of their levels; nil if there are none.
    init(behind count: Int, lowestLevel: PriorityLevel?) {
        line = BarrierLine(unfinished: count)
        if let lowestLevel { floors.note(lowestLevel) }
    }

    static var heldBackLevel: PriorityLevel { .medium }
}
