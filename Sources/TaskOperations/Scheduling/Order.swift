/// In which order operations of one priority level are served. The ready queue, the ring of what starts next and the
/// urgency of new operations all ask here; nothing else assumes an order.
///
/// The priority level comes first in every order.
enum Order: Hashable, Sendable {
    /// By arrival.
    case firstInFirstOut

    /// What is served in ascending order within a level.
    func rank(ofArrival arrival: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: arrival
        }
    }

    /// The arrival of a rank.
    func arrival(ofRank rank: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: rank
        }
    }

    /// Whether a newcomer is served after everything of its level that is there.
    var servesNewcomersLast: Bool {
        switch self {
        case .firstInFirstOut: true
        }
    }
}
