@_spi(Lock) import TaskOperations

/// Keeps what happened, in order, from whatever thread it is told.
public final class Recorder<Event: Sendable>: Sendable {
    private let recorded = Lock<[Event]>([])

    /// Makes an empty record.
    public init() {}

    /// Appends an event.
    public func record(_ event: Event) {
        recorded.withLock { $0.append(event) }
    }

    /// What was recorded so far, in order.
    public var events: [Event] { recorded.withLock { $0 } }
}
