/// The start or the end of a piece of work.
public enum WorkEvent: Hashable, Sendable, CustomStringConvertible {
    /// The work with this name started.
    case started(String)
    /// The work with this name finished.
    case finished(String)

    /// The kind of the event and the name of the work, as in `started load`.
    public var description: String {
        switch self {
        case .started(let name): "started \(name)"
        case .finished(let name): "finished \(name)"
        }
    }
}

/// Records the starts and ends of pieces of work, in order.
///
/// ```swift
/// let recorder = Recorder<WorkEvent>()
/// queue.addOperation { await recorder.run("load") { await load() } }
/// ```
extension Recorder where Event == WorkEvent {
    /// Performs a piece of work, and records its start and its end, even if the work throws.
    public func run<Value>(_ name: String, _ work: () async throws -> Value) async rethrows -> Value {
        record(.started(name))
        defer { record(.finished(name)) }
        return try await work()
    }

    /// The names of the started pieces of work, in order.
    public var started: [String] {
        events.compactMap { if case .started(let name) = $0 { name } else { nil } }
    }

    /// The names of the finished pieces of work, in order.
    public var finished: [String] {
        events.compactMap { if case .finished(let name) = $0 { name } else { nil } }
    }

    /// The maximum number of pieces of work that were started and unfinished at the same time. Linear in the number of
    /// events.
    public var mostAtOnce: Int {
        var (now, most) = (0, 0)
        for event in events {
            switch event {
            case .started: now += 1
            case .finished: now -= 1
            }
            most = max(most, now)
        }
        return most
    }
}
