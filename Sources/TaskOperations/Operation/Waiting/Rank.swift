import Synchronization

/// The place of a node in the order of the wait graph: above the ranks of all nodes for which the node waits.
///
/// The first rank is the number of the creation, so that an edge to an older node needs no work. Afterwards a rank only
/// decreases, under the lock that guards the edges of its node. See `WaitOrder`.
struct Rank: ~Copyable, Sendable {
    private static let last = Atomic(0)

    private let atomic: Atomic<Int>

    /// Creates a rank above all existing ranks.
    init() { atomic = Atomic(Self.next()) }

    init(_ value: Int) { atomic = Atomic(value) }

    var value: Int { atomic.load(ordering: .acquiring) }

    /// Sets the rank. Call it under the lock that guards the edges of the node.
    func set(_ value: Int) { atomic.store(value, ordering: .releasing) }

    /// Returns a value above all existing ranks.
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
