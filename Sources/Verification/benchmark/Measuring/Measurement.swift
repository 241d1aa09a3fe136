/// The result of one round of one subject.
struct Measurement: Sendable {
    let nsPerOperation: Double
    var bytesPerOperation: Double?

    init(nsPerOperation: Double, bytesPerOperation: Double? = nil) {
        self.nsPerOperation = nsPerOperation
        self.bytesPerOperation = bytesPerOperation
    }

    init(_ elapsed: Duration, operations: Int, bytes: Int? = nil) {
        nsPerOperation = elapsed.nanoseconds / Double(operations)
        bytesPerOperation = bytes.map { Double($0) / Double(operations) }
    }
}

/// Measures the time of work on a queue or a similar subject.
///
/// The timed span is the same for every subject. It begins just before the first operation is created, and ends when
/// the last body has ended and its waiter continues. `held` contains the objects that exist before and after the span:
/// the queue, and a `Keeper` if the case keeps its operations or task handles.
func measure<Held>(
    _ operations: Int, on held: Held, _ work: (Held) async throws -> Void
) async rethrows -> Measurement {
    let start = ContinuousClock.now
    try await work(held)
    let elapsed = start.duration(to: .now)
    withExtendedLifetime(held) {}
    return Measurement(elapsed, operations: operations)
}

/// Retains objects that are created during the timed span.
final class Keeper<Value>: @unchecked Sendable {  // Written once, and never read.
    private var kept: Value?

    func keep(_ value: Value) { kept = value }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) * 1e-9
    }
}
