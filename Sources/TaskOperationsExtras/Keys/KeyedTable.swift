import Synchronization
import TaskOperations

/// The shared operations, by hash values of their keys.
///
/// The callers of the table compare the keys after unlocking. So no user code runs under the lock, and the table does
/// not depend on the type of the keys.
final class KeyedTable: Sendable {
    private struct State: Sendable {
        /// The chains, by hash value. A chain contains the entries of all keys with the same hash value.
        var chains: [Int: KeyedEntry] = [:]
        var count = 0
    }

    private let state = Lock(State())

    var count: Int { state.withLock { $0.count } }

    /// Returns the chain of a hash value.
    func chain(_ hash: Int) -> KeyedEntry? { state.withLock { $0.chains[hash] } }

    /// All chains.
    var chains: [KeyedEntry] { state.withLock { Array($0.chains.values) } }

    /// Replaces a chain. Does nothing and returns false if another thread has replaced `former` before.
    ///
    /// - Parameter growth: The number of entries in `new` minus the number in `former`.
    func replace(_ former: KeyedEntry?, by new: KeyedEntry?, for hash: Int, growth: Int) -> Bool {
        state.withLock { state in
            // The caller retains the former chain, so that no entry is freed under the lock.
            if state.chains[hash] !== former { return false }
            state.chains[hash] = new
            state.count += growth
            state.chains.shrink()
            return true
        }
    }
}

/// An immutable entry of a table. It is linked to the next entry whose key has the same hash value.
class KeyedEntry: @unchecked Sendable {
    // All properties of this class and of its subclass are constant and sendable.
    let shared: SharedOperation
    /// The earlier operations of the key that must end before this one starts, the latest first.
    let former: [SharedOperation]
    fileprivate let next: KeyedEntry?

    init(_ shared: SharedOperation, after former: [SharedOperation], next: KeyedEntry?) {
        self.shared = shared
        self.former = former
        self.next = next
    }

    /// The operations of the key that have not ended, the latest first.
    var unfinished: [SharedOperation] { ([shared] + former).filter { !$0.operation.isFinished } }
}

private final class EntryOfKey<Key: Hashable & Sendable>: KeyedEntry, @unchecked Sendable {
    // All properties in addition to those of an entry are constant.
    let key: Key

    init(_ key: Key, _ shared: SharedOperation, after former: [SharedOperation], next: KeyedEntry?) {
        self.key = key
        super.init(shared, after: former, next: next)
    }
}

// MARK: - Chains

// The unchecked casts are safe. A table has keys of one type only, and all its entries are `EntryOfKey`s of that type.

extension KeyedEntry? {
    func entry<Key: Hashable & Sendable>(for key: Key) -> KeyedEntry? {
        var entry = self
        while let present = entry {
            if unsafeDowncast(present, to: EntryOfKey<Key>.self).key == key { return present }
            entry = present.next
        }
        return nil
    }

    /// Returns a chain with the operation added. The operation replaces an earlier operation of the same key.
    func setting<Key: Hashable & Sendable>(
        _ shared: SharedOperation, after former: [SharedOperation], for key: Key
    ) -> KeyedEntry {
        let rest = entry(for: key).map { replacing($0.shared.operation, by: [], of: Key.self) } ?? self
        return EntryOfKey(key, shared, after: former, next: rest)
    }

    /// Returns a chain with other operations of the key, the latest first, in the place of an operation. The search
    /// compares operations, because a key might not be equal to itself.
    func replacing<Key: Hashable & Sendable>(
        _ operation: AnyTaskOperation, by others: [SharedOperation], of type: Key.Type
    ) -> KeyedEntry? {
        var (entry, kept) = (self, KeyedEntry?.none)
        while let present = entry {
            let isReplaced = present.shared.operation === operation
            let operations = isReplaced ? others : [present.shared] + present.former
            if let first = operations.first {
                let key = unsafeDowncast(present, to: EntryOfKey<Key>.self).key
                kept = EntryOfKey(key, first, after: Array(operations.dropFirst()), next: kept)
            }
            entry = present.next
        }
        return kept
    }

    func contains(_ operation: AnyTaskOperation) -> Bool { entry(of: operation) != nil }

    func entry(of operation: AnyTaskOperation) -> KeyedEntry? {
        var entry = self
        while let present = entry {
            if present.shared.operation === operation { return present }
            entry = present.next
        }
        return nil
    }

    /// Returns the entries whose keys satisfy a predicate.
    func entries<Key: Hashable & Sendable>(where isIncluded: (Key) -> Bool) -> [KeyedEntry] {
        var (entry, all) = (self, [KeyedEntry]())
        while let present = entry {
            if isIncluded(unsafeDowncast(present, to: EntryOfKey<Key>.self).key) { all.append(present) }
            entry = present.next
        }
        return all
    }
}

extension KeyedTable {
    /// Sets the operation of a key. Does nothing and returns false if `chain` is outdated.
    func set<Key: Hashable & Sendable>(
        _ shared: SharedOperation, after former: [SharedOperation], for key: Key, _ hash: Int, in chain: KeyedEntry?
    ) -> Bool {
        let growth = chain.entry(for: key) == nil ? 1 : 0
        return replace(chain, by: chain.setting(shared, after: former, for: key), for: hash, growth: growth)
    }

    /// Removes an operation. If it had to wait for earlier operations of its key, the key belongs to these again.
    /// Does nothing if another operation has replaced it.
    ///
    /// - Returns: The operation to which the key belongs again; nil if the key was removed.
    @discardableResult
    func remove<Key: Hashable & Sendable>(
        _ operation: AnyTaskOperation, of type: Key.Type, _ hash: Int
    ) -> SharedOperation? {
        while true {
            let chain = chain(hash)
            guard let entry = chain.entry(of: operation) else { return nil }
            let rest = entry.former.filter { !$0.operation.isFinished }
            let new = chain.replacing(operation, by: rest, of: type)
            if replace(chain, by: new, for: hash, growth: rest.isEmpty ? -1 : 0) { return rest.first }
        }
    }
}
