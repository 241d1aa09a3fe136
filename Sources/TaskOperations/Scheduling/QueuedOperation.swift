/// An operation in a queue, as far as the queue's decisions depend on it.
struct QueuedOperation<Element: Sendable>: Sendable {
    let element: Element
    let arrival: UInt64
    /// The number of waits that are in progress in the body and its child tasks, while its permits are lent.
    var waits: Int32 = 0
    private let weightAndKind: UInt16
    var level: PriorityLevel
    var status: OperationStatus

    init(_ element: Element, _ newcomer: Newcomer, arrival: UInt64) {
        self.element = element
        self.arrival = arrival
        weightAndKind = UInt16(newcomer.weight) | (newcomer.isBarrier ? Self.barrierBit : 0)
        level = newcomer.level
        status = newcomer.isReady ? .ready : .waiting
    }

    /// The number of permits that it takes.
    var weight: Int { Int(weightAndKind & ~Self.barrierBit) }

    var isBarrier: Bool { weightAndKind & Self.barrierBit != 0 }

    // With the weight in a field of its own, a queued operation would take 8 bytes more.
    private static var barrierBit: UInt16 { 1 << 15 }
}

/// The state of an operation in a queue.
package enum OperationStatus: Hashable, Sendable {
    /// A dependency is unfinished.
    case waiting
    /// Its dependencies have finished; it may start, or is behind a barrier.
    case ready
    /// It holds its permits.
    case executing
    /// It started, and has lent its permits out while it awaits another operation.
    case lent
    /// The wait is over; it continues as soon as it has its permits.
    case returning
}

/// The properties of an operation that a queue needs when the operation arrives.
struct Newcomer: Sendable {
    /// The level that orders it.
    var level = PriorityLevel.medium
    /// Whether its dependencies are finished.
    var isReady = false
    var isBarrier = false
    /// The number of permits that it takes.
    var weight = 1
}
