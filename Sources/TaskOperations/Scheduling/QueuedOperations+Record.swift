/// Where an operation of a queue stands.
enum OperationStatus: Hashable, Sendable {
    /// A dependency is unfinished.
    case waiting
    /// Dependencies are finished; it may start, or stands behind a barrier.
    case ready
    /// It holds its permits.
    case executing
    /// It started, and has lent its permits out while it awaits another operation.
    case lent
    /// The wait is over; it goes on as soon as it has its permits back.
    case returning
}

extension QueuedOperations {
    struct Record: ArrivingRecord, Sendable {
        let element: Element
        let arrival: UInt64
        /// Waits for other operations that are in progress within it, on all its child tasks.
        var waits: Int32 = 0
        private let weightAndKind: UInt16
        var level: PriorityLevel
        var status: OperationStatus

        init(
            element: Element, arrival: UInt64, weight: Int, isBarrier: Bool, level: PriorityLevel,
            status: OperationStatus
        ) {
            self.element = element
            self.arrival = arrival
            weightAndKind = UInt16(weight) | (isBarrier ? Self.barrierBit : 0)
            self.level = level
            self.status = status
        }

        /// How many permits it takes.
        var weight: Int { Int(weightAndKind & ~Self.barrierBit) }

        var isBarrier: Bool { weightAndKind & Self.barrierBit != 0 }

        // With the weight in a field of its own, a pending operation would take 8 bytes more.
        private static var barrierBit: UInt16 { 1 << 15 }
    }
}
