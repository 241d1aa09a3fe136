import Synchronization

/// A key of a semaphore, while a task, an operation or a share uses it. Equal keys of a semaphore are one object, so
/// that the semaphore identifies a key by its number.
///
/// The functions of a user's key are user code. They are never called with a lock held.
package class LimitKey: AwaitedSubject, @unchecked Sendable {
    // All properties are constant, except the weak reference, which is only set to nil by the runtime.

    /// The number of the key in the state of the semaphore.
    package let number: Int
    fileprivate let hash: Int
    private weak var semaphore: AsyncSemaphore?

    fileprivate init(number: Int, hash: Int, _ semaphore: AsyncSemaphore) {
        self.number = number
        self.hash = hash
        self.semaphore = semaphore
    }

    /// The key as text.
    fileprivate var text: String { preconditionFailure("a subclass has the value") }

    /// The semaphore, the key and the use of its permits.
    package var waitDescription: String {
        guard let semaphore else { return "key \(text)" }
        let (taken, capacity, hasToken) = semaphore.storage.withLock { storage in
            let capacity = min(storage.state.capacity(of: number), storage.state.permits.capacity)
            return (storage.state.takenCount(of: number), capacity, storage.state.hasToken(for: number))
        }
        let use = "\(semaphore.label), key \(text), \(taken) of \(capacity) permits taken"
        return hasToken ? use : "\(use), without a token of its rate"
    }

    // Every owner of a key releases it with no lock held.
    deinit {
        semaphore?.storage.withLock { storage in
            storage.keys.remove(number, hash)
            storage.state.removeKey(number)
        }
    }
}

private final class TypedLimitKey<Value: Hashable & Sendable>: LimitKey, @unchecked Sendable {
    // The property is constant.

    let value: Value

    init(_ value: Value, number: Int, hash: Int, _ semaphore: AsyncSemaphore) {
        self.value = value
        super.init(number: number, hash: hash, semaphore)
    }

    override var text: String { "\(value)" }
}

/// The keys of a semaphore that are in use, by the hash values of the user's keys.
struct LimitKeys: Sendable {
    private struct Reference: Sendable {
        let number: Int
        weak let key: LimitKey?
    }

    private var references: [Int: TinyArray<Reference>] = [:]
    /// The keys that have a share other than 1, or their own capacity, by number.
    private var kept: [Int: LimitKey] = [:]
    /// The keys of which tokens are used, by number.
    private var keptForTokens: [Int: LimitKey] = [:]

    /// The keys with a hash value. The caller keeps them until it holds no lock.
    fileprivate func all(_ hash: Int) -> [LimitKey] {
        references[hash].map { $0.compactMap(\.key) } ?? []
    }

    fileprivate mutating func insert(_ key: LimitKey) {
        references[key.hash, default: TinyArray()].append(Reference(number: key.number, key: key))
    }

    fileprivate mutating func remove(_ number: Int, _ hash: Int) {
        guard var list = references[hash], let index = list.firstIndex(where: { $0.number == number }) else { return }
        list.remove(at: index)
        references[hash] = list.isEmpty ? nil : list
        // A dictionary does not shrink by itself.
        if references.count < references.capacity / 8, references.capacity > 64 {
            var smaller = [Int: TinyArray<Reference>](minimumCapacity: 2 * references.count)
            for (hash, list) in references { smaller[hash] = list }
            references = smaller
        }
    }

    /// Keeps a key until `stopKeepingForTokens`.
    mutating func keepForTokens(_ key: LimitKey) { keptForTokens[key.number] = key }

    /// Stops keeping a key. Returns the key, which the caller releases after unlocking.
    mutating func stopKeepingForTokens(_ number: Int) -> LimitKey? { keptForTokens.removeValue(forKey: number) }

    /// Keeps a key, or stops keeping it if `key` is nil. Returns the key that was kept, which the caller releases after
    /// unlocking.
    mutating func setKept(_ key: LimitKey?, _ number: Int) -> LimitKey? {
        let former = kept[number]
        kept[number] = key
        return former
    }
}

extension AsyncSemaphore {
    /// The object of a key. Calls the functions of the key with no lock held.
    package func interned<Value: Hashable & Sendable>(_ value: Value) -> LimitKey {
        let hash = value.hashValue
        var different: [LimitKey] = []
        while true {
            // Released after unlocking: a reference may have become the last one.
            var candidates: [LimitKey] = []
            let made = storage.withLock { storage -> LimitKey? in
                candidates = storage.keys.all(hash)
                if candidates.count > different.count { return nil }
                if !candidates.allSatisfy({ candidate in different.contains { $0 === candidate } }) { return nil }
                let key = TypedLimitKey(value, number: storage.state.addKey(), hash: hash, self)
                storage.keys.insert(key)
                return key
            }
            if let made { return made }
            for candidate in candidates where !different.contains(where: { $0 === candidate }) {
                if let typed = candidate as? TypedLimitKey<Value>, typed.value == value { return typed }
                different.append(candidate)
            }
        }
    }
}
