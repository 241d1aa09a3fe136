/// The data about an operation that its queue needs for decisions.
struct QueuedOperation<Element: Sendable>: Sendable {
    let element: Element
    /// The place of the operation among the operations of the queue. Changes only if the delay of a barrier ends.
    var arrival: UInt64
    /// The number of current waits in the body and its child tasks. It is 0 unless the operation has lent its permits.
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

    /// The number of permits that the operation takes.
    var weight: Int { Int(weightAndKind & ~Self.barrierBit) }

    var isBarrier: Bool { weightAndKind & Self.barrierBit != 0 }

    // One field contains the weight and the kind. Two fields would make a queued operation 8 bytes larger.
    private static var barrierBit: UInt16 { 1 << 15 }
}

/// The state of an operation in a queue.
package enum OperationStatus: Hashable, Sendable {
    /// A dependency is unfinished, or the operation's delay has not passed.
    case waiting
    /// All dependencies have finished. A barrier may still hold the operation back.
    case ready
    /// The operation has started and holds its permits.
    case executing
    /// The operation has started, and has lent its permits while it awaits another operation.
    case lent
    /// The wait is over. The operation continues when it has its permits back.
    case returning
}

/// The properties of an operation that a queue needs when the operation arrives.
struct Newcomer: Sendable {
    var level = PriorityLevel.medium
    /// Whether the operation's dependencies are finished.
    var isReady = false
    var isBarrier = false
    /// Whether the operation has a delay that is not over.
    var isDelayed = false
    var weight = 1
}
