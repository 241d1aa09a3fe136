import Synchronization

/// The place of a node in the order of the wait graph. A node ranks above all nodes for which it waits.
///
/// A new operation ranks above all older operations, so that an edge to an older operation needs no work. After a node
/// has begun to wait for the operation, the operation's rank only decreases. A rank changes only under the lock that
/// guards the edges of its node. See `WaitOrder`.
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
