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
    fileprivate let next: KeyedEntry?

    init(_ shared: SharedOperation, next: KeyedEntry?) {
        self.shared = shared
        self.next = next
    }
}

private final class EntryOfKey<Key: Hashable & Sendable>: KeyedEntry, @unchecked Sendable {
    // All properties in addition to those of an entry are constant.
    let key: Key

    init(_ key: Key, _ shared: SharedOperation, next: KeyedEntry?) {
        self.key = key
        super.init(shared, next: next)
    }
}

// MARK: - Chains

// The unchecked casts are safe. A table has keys of one type only, and all its entries are `EntryOfKey`s of that type.

extension KeyedEntry? {
    func shared<Key: Hashable & Sendable>(for key: Key) -> SharedOperation? {
        var entry = self
        while let present = entry {
            if unsafeDowncast(present, to: EntryOfKey<Key>.self).key == key { return present.shared }
            entry = present.next
        }
        return nil
    }

    /// Returns a chain with the operation added. The operation replaces an earlier operation of the same key.
    func setting<Key: Hashable & Sendable>(_ shared: SharedOperation, for key: Key) -> KeyedEntry {
        EntryOfKey(key, shared, next: self.shared(for: key).map { removing($0.operation, of: Key.self) } ?? self)
    }

    /// Returns a chain without the operation. The search compares operations, because a key might not be equal to
    /// itself.
    func removing<Key: Hashable & Sendable>(_ operation: AnyTaskOperation, of type: Key.Type) -> KeyedEntry? {
        var (entry, kept) = (self, KeyedEntry?.none)
        while let present = entry {
            if present.shared.operation !== operation {
                let key = unsafeDowncast(present, to: EntryOfKey<Key>.self).key
                kept = EntryOfKey(key, present.shared, next: kept)
            }
            entry = present.next
        }
        return kept
    }

    func contains(_ operation: AnyTaskOperation) -> Bool { shared(of: operation) != nil }

    func shared(of operation: AnyTaskOperation) -> SharedOperation? {
        var entry = self
        while let present = entry {
            if present.shared.operation === operation { return present.shared }
            entry = present.next
        }
        return nil
    }

    /// Returns the shared operations whose keys satisfy a predicate.
    func shared<Key: Hashable & Sendable>(where isIncluded: (Key) -> Bool) -> [SharedOperation] {
        var (entry, all) = (self, [SharedOperation]())
        while let present = entry {
            if isIncluded(unsafeDowncast(present, to: EntryOfKey<Key>.self).key) { all.append(present.shared) }
            entry = present.next
        }
        return all
    }
}

extension KeyedTable {
    /// Sets the operation of a key. Does nothing and returns false if `chain` is outdated.
    func set<Key: Hashable & Sendable>(
        _ shared: SharedOperation, for key: Key, _ hash: Int, in chain: KeyedEntry?
    ) -> Bool {
        let growth = chain.shared(for: key) == nil ? 1 : 0
        return replace(chain, by: chain.setting(shared, for: key), for: hash, growth: growth)
    }

    /// Removes an operation. Does nothing if another operation has replaced it.
    func remove<Key: Hashable & Sendable>(_ operation: AnyTaskOperation, of type: Key.Type, _ hash: Int) {
        while true {
            let chain = chain(hash)
            if !chain.contains(operation) { return }
            if replace(chain, by: chain.removing(operation, of: type), for: hash, growth: -1) { return }
        }
    }
}
