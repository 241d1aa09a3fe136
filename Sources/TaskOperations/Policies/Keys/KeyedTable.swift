/// Which operation is shared for each key.
final class KeyedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let entries = Lock<[Key: SharedOperation<Value>]>([:])

    var count: Int { entries.withLock { $0.count } }

    subscript(key: Key) -> SharedOperation<Value>? { entries.withLock { $0[key] } }

    /// Puts an operation in, unless there is another one by now. Returns whether it is in.
    func replace(_ former: SharedOperation<Value>?, by new: SharedOperation<Value>, for key: Key) -> Bool {
        entries.withLock { entries in
            // The former one stays with the caller: nothing is freed here.
            if entries[key] !== former { return false }
            entries[key] = new
            return true
        }
    }

    /// Removes an operation, unless there is another one by now.
    func remove(_ shared: SharedOperation<Value>, for key: Key) {
        let removed = entries.withLock { entries -> Dictionary<Key, SharedOperation<Value>>.Element? in
            guard let index = entries.index(forKey: key), entries[index].value === shared else { return nil }
            let removed = entries.remove(at: index)
            // What a burst of keys left is given back.
            if entries.capacity > 64, entries.count < entries.capacity / 4 { entries = entries.filter { _ in true } }
            return removed
        }
        // The key is the user's, and freed after the lock is left.
        extendLifetime(removed)
    }
}
