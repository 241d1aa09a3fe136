/// The order in which operations of one priority start. A higher priority always starts first.
public enum OperationOrder: Hashable, Sendable {
    /// The operation that was added first starts first.
    case firstInFirstOut
    /// The operation that was added last starts first. A barrier keeps its place: it starts after all operations that were
    /// added before it, and before all that are added after it.
    case lastInFirstOut
}

// The ready queue, the ring of the next operations, and the urgency of new operations use these functions. No other code
// assumes an order.
extension OperationOrder {
    /// The rank of an arrival within a level; lower ranks start first.
    func rank(ofArrival arrival: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: arrival
        case .lastInFirstOut: .max - arrival
        }
    }

    /// The arrival of a rank.
    func arrival(ofRank rank: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: rank
        case .lastInFirstOut: .max - rank
        }
    }
}
