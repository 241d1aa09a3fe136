import Synchronization

/// The place of a node in the order of the wait graph: higher than the rank of everything that the node waits for.
///
/// Ranks begin as numbers of creation, so that an edge to something older needs no work. Afterwards they only sink,
/// each under the lock that guards what its node waits for. See `WaitOrder`.
struct Rank: ~Copyable, Sendable {
    private static let last = Atomic(0)

    private let atomic: Atomic<Int>

    /// A rank above all that there are.
    init() { atomic = Atomic(Self.next()) }

    init(_ value: Int) { atomic = Atomic(value) }

    var value: Int { atomic.load(ordering: .acquiring) }

    /// The caller holds the lock that guards what the node waits for.
    func set(_ value: Int) { atomic.store(value, ordering: .releasing) }

    /// A value above all ranks that there are.
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
