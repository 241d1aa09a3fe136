import Synchronization
import TaskOperations

/// Records events in order, from any thread.
public final class Recorder<Event: Sendable>: Sendable {
    private let recorded = Lock<[Event]>([])

    /// Creates an empty recorder.
    public init() {}

    /// Appends an event.
    public func record(_ event: Event) {
        recorded.withLock { $0.append(event) }
    }

    /// The events recorded so far, in order.
    public var events: [Event] { recorded.withLock { $0 } }
}
