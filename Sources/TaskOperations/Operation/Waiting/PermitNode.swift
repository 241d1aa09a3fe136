/// The permits of a queue, as a node of the wait graph: what has no permit waits for the bodies that keep theirs while
/// they await something.
///
/// A cycle through such a body is no error if the queue lends permits: the body lends its own, and goes out of the
/// cycle.
final class PermitNode: Sendable {
    /// Whether a body that keeps its permit may be made to lend it.
    let isLendable: Bool
    /// Below everything, until something that ranks lower comes to wait for a permit.
    let rank = Rank(0)
    private let holders = Lock(OperationList<Void>())

    init(isLendable: Bool) {
        self.isLendable = isLendable
    }

    var edges: [WaitNode] { holders.withLock { $0.operations.map(WaitNode.operation) } }

    /// The bodies that keep a permit, and are among these nodes or await one of them. Linear.
    func holdersWaiting(for nodes: Set<ObjectIdentifier>) -> [AnyTaskOperation] {
        holders.withLock { $0.operations }.filter { holder in
            if nodes.contains(ObjectIdentifier(holder)) { return true }
            return holder.record.withLock { record in
                record.links?.waits.contains { nodes.contains($0.target.identity) } ?? false
            }
        }
    }

    func lowerRank(to value: Int) -> Bool {
        holders.withLock { holders in
            if rank.value <= value { return true }
            guard holders.operations.allSatisfy({ $0.rank.value < value }) else { return false }
            rank.set(value)
            return true
        }
    }

    /// Notes that a body keeps its permit while it awaits, if it does. Returns false if the body would have to rank below
    /// the permits, and does not.
    func insert(_ holder: AnyTaskOperation) -> Bool {
        holders.withLock { holders in
            let (isInOrder, isNew) = holder.record.withLock { record in
                guard let links = record.links, links.permit == .held, links.suspendedCount > 0 else {
                    return (true, false)
                }
                if holder.rank.value >= rank.value { return (false, false) }
                links.permit = .kept
                return (true, true)
            }
            // It may be there still, from a wait that has just ended.
            if isNew, !holders.contains(holder) { holders.append(holder, ()) }
            return isInOrder
        }
    }

    /// A body no longer awaits anything, or lends its permit, unless it has begun to keep the permit anew.
    func remove(_ holder: AnyTaskOperation) {
        _ = holders.withLock { holders in
            let isKept = holder.record.withLock { $0.links?.permit == .kept }
            return isKept ? nil : holders.remove(holder)?.operation
        }
    }
}

/// What becomes of a body's permit while the body awaits something.
enum PermitUse: Sendable {
    /// The body does not await anything.
    case held
    /// The body awaits something that does not need the permit.
    case kept
    /// The body is about to lend the permit.
    case lending
    /// The permit is lent, or the body waits to have it back.
    case lent
}
