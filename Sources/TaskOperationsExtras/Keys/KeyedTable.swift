@_spi(Lock) import TaskOperations

/// The shared operation of each key.
///
/// The table contains hash values, and its callers compare the keys. So no user code is called under the lock, and the
/// table does not depend on the type of the keys.
final class KeyedTable: Sendable {
    private struct State: Sendable {
        /// The chains of entries, by hash value. A chain contains the entries of all keys with that hash value.
        var chains: [Int: KeyedEntry] = [:]
        var count = 0
    }

    private let state = Lock(State())

    /// The number of entries.
    var count: Int { state.withLock { $0.count } }

    /// The entries of all keys with a hash value.
    func chain(_ hash: Int) -> KeyedEntry? { state.withLock { $0.chains[hash] } }

    /// Replaces a chain, unless another thread has replaced it.
    ///
    /// - Parameter growth: The number of additional entries.
    /// - Returns: Whether the chain was replaced.
    func replace(_ former: KeyedEntry?, by new: KeyedEntry?, for hash: Int, growth: Int) -> Bool {
        state.withLock { state in
            // The caller keeps the former chain, so nothing is freed under the lock.
            if state.chains[hash] !== former { return false }
            state.chains[hash] = new
            state.count += growth
            // Releases the memory that a burst of keys has left.
            if state.chains.capacity > 64, state.chains.count < state.chains.capacity / 4 {
                state.chains = state.chains.filter { _ in true }
            }
            return true
        }
    }
}

/// An entry of a table, and the other entries whose keys have the same hash value. It is immutable.
class KeyedEntry: @unchecked Sendable {
    // All properties of this class and its subclass are constant and sendable.
    let shared: SharedOperation
    fileprivate let next: KeyedEntry?

    init(_ shared: SharedOperation, next: KeyedEntry?) {
        self.shared = shared
        self.next = next
    }
}

/// An entry with its key.
private final class EntryOfKey<Key: Hashable & Sendable>: KeyedEntry, @unchecked Sendable {
    let key: Key

    init(_ key: Key, _ shared: SharedOperation, next: KeyedEntry?) {
        self.key = key
        super.init(shared, next: next)
    }
}

// MARK: - Chains

// A table has keys of one type only, so that each of its entries is an `EntryOfKey` of that type.

extension KeyedEntry? {
    /// The operation of a key.
    func shared<Key: Hashable & Sendable>(for key: Key) -> SharedOperation? {
        var entry = self
        while let present = entry {
            if unsafeDowncast(present, to: EntryOfKey<Key>.self).key == key { return present.shared }
            entry = present.next
        }
        return nil
    }

    /// Returns the chain with an operation for a key, which replaces an earlier operation of the key.
    func setting<Key: Hashable & Sendable>(_ shared: SharedOperation, for key: Key) -> KeyedEntry {
        EntryOfKey(key, shared, next: self.shared(for: key).map { removing($0, of: Key.self) } ?? self)
    }

    /// Returns the chain without an operation. Keys are not compared, because a key might not be equal to itself.
    func removing<Key: Hashable & Sendable>(_ shared: SharedOperation, of type: Key.Type) -> KeyedEntry? {
        var (entry, kept) = (self, KeyedEntry?.none)
        while let present = entry {
            if present.shared !== shared {
                let key = unsafeDowncast(present, to: EntryOfKey<Key>.self).key
                kept = EntryOfKey(key, present.shared, next: kept)
            }
            entry = present.next
        }
        return kept
    }

    func contains(_ shared: SharedOperation) -> Bool {
        var entry = self
        while let present = entry {
            if present.shared === shared { return true }
            entry = present.next
        }
        return false
    }
}

extension KeyedTable {
    /// Sets the operation of a key, unless the key's chain has changed.
    func set<Key: Hashable & Sendable>(
        _ shared: SharedOperation, for key: Key, _ hash: Int, in chain: KeyedEntry?
    ) -> Bool {
        let growth = chain.shared(for: key) == nil ? 1 : 0
        return replace(chain, by: chain.setting(shared, for: key), for: hash, growth: growth)
    }

    /// Removes an operation, unless another one has replaced it.
    func remove<Key: Hashable & Sendable>(_ shared: SharedOperation, of type: Key.Type, _ hash: Int) {
        while true {
            let chain = chain(hash)
            if !chain.contains(shared) { return }
            if replace(chain, by: chain.removing(shared, of: type), for: hash, growth: -1) { return }
        }
    }
}
