import Synchronization

/// A use of a key of a semaphore, for example by a task, an operation or a claim. All uses of a key have its number.
///
/// The functions of a user's key are user code. They are never called with a lock held.
package final class LimitKey: Sendable {
    fileprivate let value: LimitKeyValue
    private let semaphore: AsyncSemaphore

    /// - Parameter value: The key, whose number of uses includes this one.
    fileprivate init(_ value: LimitKeyValue, _ semaphore: AsyncSemaphore) {
        self.value = value
        self.semaphore = semaphore
    }

    /// The number of the key in the state of the semaphore.
    package var number: Int { value.number }

    /// The user's key.
    var userValue: any Hashable & Sendable { value.userValue }

    /// The semaphore, the key and the use of the key's permits. If only the permits in total are used up, their use.
    func waitDescription(cost: Int) -> String {
        let (taken, capacity, total, shortage) = semaphore.storage.withLock { storage in
            let (taken, capacity) = (storage.state.takenCount(of: number), storage.state.capacity(of: number))
            return (taken, capacity, storage.state.permits, storage.state.shortage(for: number, cost: cost))
        }
        let holder = "\(semaphore.label), key \(userValue)"
        if taken < capacity, total.available <= 0 {
            return AsyncSemaphore.use(of: holder, total.taken, total.capacity, isTotal: true, shortage)
        }
        return AsyncSemaphore.use(of: holder, taken, min(capacity, total.capacity), shortage)
    }

    // Every owner releases a use with no lock of a semaphore held.
    deinit {
        semaphore.storage.withLock { storage in
            if storage.keys.endUse(of: value) { storage.state.removeKey(number) }
        }
    }
}

/// A key that is in use. Equal keys of a semaphore are one object.
///
/// The number of uses is counted here. With weak references to one object for each key, the runtime would count all its
/// references by slow functions: Cost, row 25.
private class LimitKeyValue: @unchecked Sendable {
    // `useCount` is accessed only under the lock of the semaphore. All other properties are constant.

    let number: Int
    let hash: Int
    @exclusivity(unchecked) var useCount = 0

    init(number: Int, hash: Int) {
        self.number = number
        self.hash = hash
    }

    /// The user's key.
    var userValue: any Hashable & Sendable { preconditionFailure("a subclass has the value") }

    func isEqual<Other: Hashable>(to other: Other) -> Bool { preconditionFailure("a subclass has the value") }
}

private final class TypedLimitKeyValue<Value: Hashable & Sendable>: LimitKeyValue, @unchecked Sendable {
    // The property is constant.

    let value: Value

    init(_ value: Value, number: Int, hash: Int) {
        self.value = value
        super.init(number: number, hash: hash)
    }

    override var userValue: any Hashable & Sendable { value }

    override func isEqual<Other: Hashable>(to other: Other) -> Bool {
        if Other.self != Value.self { return false }
        // Both types are the same, so that no conditional cast is needed: Cost, row 26.
        return unsafeBitCast(other, to: Value.self) == value
    }
}

/// The keys of a semaphore that are in use, by the hash values of the user's keys.
struct LimitKeys: Sendable {
    private var values: [Int: TinyArray<LimitKeyValue>] = [:]
    /// The keys that have a share other than 1, or their own capacity, by number.
    private var kept: [Int: LimitKeyValue] = [:]
    /// The keys of which tokens are used or that are paused, by number.
    private var keptForTokens: [Int: LimitKeyValue] = [:]

    /// One of the keys with a hash value, with one more use; nil if there are fewer keys.
    ///
    /// - Parameter index: The position of the key among the keys with this hash value, in the order of their insertion.
    fileprivate func beginUse(ofKeyWith hash: Int, at index: Int) -> LimitKeyValue? {
        guard let found = values[hash], index < found.count else { return nil }
        found[index].useCount += 1
        return found[index]
    }

    /// Adds a key with one use.
    fileprivate mutating func insert(_ value: LimitKeyValue) {
        value.useCount = 1
        values[value.hash, default: TinyArray()].append(value)
    }

    /// Ends a use of a key, which the caller keeps until it has unlocked. Returns whether the use was the last one. The
    /// key is then removed.
    fileprivate mutating func endUse(of value: LimitKeyValue) -> Bool {
        value.useCount -= 1
        if value.useCount > 0 { return false }
        var list = values[value.hash]!
        list.remove(at: list.firstIndex { $0 === value }!)
        values[value.hash] = list.isEmpty ? nil : list
        values.shrink()
        return true
    }

    /// Keeps a key until `stopKeepingForTokens`.
    mutating func keepForTokens(_ key: LimitKey) {
        if keptForTokens.updateValue(key.value, forKey: key.number) == nil { key.value.useCount += 1 }
    }

    /// Stops keeping a key. Returns its use, which the caller ends after unlocking.
    mutating func stopKeepingForTokens(_ number: Int, of semaphore: AsyncSemaphore) -> LimitKey? {
        keptForTokens.removeValue(forKey: number).map { LimitKey($0, semaphore) }
    }

    /// Keeps a key that has settings, or stops keeping it. Returns the use of a key that is no longer kept. The caller
    /// ends this use after unlocking.
    mutating func setKept(_ isKept: Bool, _ key: LimitKey, of semaphore: AsyncSemaphore) -> LimitKey? {
        if !isKept { return kept.removeValue(forKey: key.number).map { LimitKey($0, semaphore) } }
        if kept.updateValue(key.value, forKey: key.number) == nil { key.value.useCount += 1 }
        return nil
    }
}

/// An optional of any type.
private protocol AnyOptional {
    /// The contained value; nil if there is none.
    var content: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var content: Any? { self }
}

extension AsyncSemaphore {
    /// A use of a key; nil if the key is nil. A key of an optional type is the key that it contains: in a generic
    /// function, the type of a key may be optional.
    func interned<Value: Hashable & Sendable>(_ value: Value?) -> LimitKey? {
        guard let value else { return nil }
        guard let optional = value as? any AnyOptional else { return interned(value) as LimitKey }
        func use(_ key: some Hashable & Sendable) -> LimitKey? { interned(key as Optional) }
        return optional.content.flatMap { content in
            // The content of a key can be a key.
            let key = content as! any Hashable & Sendable
            return use(key)
        }
    }

    /// A use of a key. Calls the functions of the key with no lock held.
    package func interned<Value: Hashable & Sendable>(_ value: Value) -> LimitKey {
        let hash = value.hashValue
        // These uses remain until the key is found. Therefore, no key before the next candidate is removed.
        var different: [LimitKey] = []
        while true {
            let (candidate, isNew) = storage.withLock { storage -> (LimitKeyValue, Bool) in
                if let found = storage.keys.beginUse(ofKeyWith: hash, at: different.count) { return (found, false) }
                let new = TypedLimitKeyValue(value, number: storage.state.addKey(), hash: hash)
                storage.keys.insert(new)
                return (new, true)
            }
            let use = LimitKey(candidate, self)
            if isNew || candidate.isEqual(to: value) { return use }
            different.append(use)
        }
    }
}
