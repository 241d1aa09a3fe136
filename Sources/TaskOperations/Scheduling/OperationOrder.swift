/// In which order operations of one priority are served. The higher priority comes first in every order.
public enum OperationOrder: Hashable, Sendable {
    /// What was added first starts first.
    case firstInFirstOut
    /// What was added last starts first, also while others wait. A barrier keeps its place: it starts after all that was
    /// added before it, and what is added after it waits for it.
    case lastInFirstOut
}

// The ready queue, the ring of what starts next and the urgency of new operations all ask here; nothing else assumes an
// order.
extension OperationOrder {
    /// What is served in ascending order within a level.
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
