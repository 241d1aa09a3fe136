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

/// Measures the time of work on queues and similar subjects.
///
/// The timed span is the same for every subject. It begins just before the first operation is made, and ends when the
/// last body has ended and its waiter continues. Objects that exist before and after that span are passed as `held`:
/// the queue, and, if a case keeps the operations or task handles, a `Keeper` of these.
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
