import Synchronization

// Thread-local values. The functions of the operating system are in the folder `Platform`.

/// A thread-local mark. The mark of each thread is empty at first, and later the identity of an object.
package struct ThreadMark: Sendable {
    private let address = ThreadAddress()

    package init() {}

    /// Whether the mark of the calling thread is `object`.
    package func isSet(to object: ObjectIdentifier) -> Bool {
        UInt(bitPattern: address.value) == UInt(bitPattern: object)
    }

    /// Sets the mark of the calling thread.
    package func set(to object: ObjectIdentifier) {
        address.value = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: object))
    }
}

/// A thread-local pointer to a variable on the thread's stack; nil if the thread has no such variable.
struct ThreadVariable<Value>: Sendable {
    private let address = ThreadAddress()

    var pointer: UnsafeMutablePointer<Value>? {
        get { address.value?.assumingMemoryBound(to: Value.self) }
        nonmutating set { address.value = UnsafeMutableRawPointer(newValue) }
    }
}

/// A flag that threads can set, but not clear.
final class AtomicFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }

    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
}

/// A value that most of its owners never have. A reader of an owner without it takes no lock.
struct RareValue<Value: Sendable>: ~Copyable, Sendable {
    private let stored = Lock<Value?>(nil)
    // Relaxed accesses are sufficient: the lock publishes the value, and an old flag only misses a change that happens at
    // the same time.
    private let isSet = Atomic(false)

    /// Whether the value was never set.
    var isEmpty: Bool { !isSet.load(ordering: .relaxed) }

    var value: Value? { isEmpty ? nil : stored.withLock { $0 } }

    /// Replaces the value. The previous value is released with no lock held.
    ///
    /// - Parameter change: Called under the lock with the previous value. Returns the new one.
    func set(_ change: (Value?) -> Value) {
        let former = stored.withLock { stored in
            let former = stored
            stored = change(former)
            return former
        }
        isSet.store(true, ordering: .relaxed)
        extendLifetime(former)
    }
}

/// A moment of the continuous clock.
///
/// Values that are copied often contain a moment instead of a `ContinuousClock.Instant`. The compiler does not know the
/// layout of that type. It copies and destroys values with such an instant through value witness tables: Cost, row 32.
package struct Moment: Comparable, Sendable {
    private static let first = ContinuousClock.now

    /// The time since `first`.
    private let time: Duration

    /// The moment `first`, from which all other moments are measured.
    static var origin: Moment { Moment(time: .zero) }

    private init(time: Duration) { self.time = time }

    init(_ instant: ContinuousClock.Instant) {
        time = Self.first.duration(to: instant)
    }

    package static var now: Moment { Moment(.now) }

    var instant: ContinuousClock.Instant { Self.first.advanced(by: time) }

    package static func < (left: Moment, right: Moment) -> Bool { left.time < right.time }

    package static func - (end: Moment, start: Moment) -> Duration { end.time - start.time }
}

/// Stops the process with a message if a caller breaks a requirement. Unlike `precondition`, this function also prints
/// the message in release builds.
package func require(
    _ isAllowed: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !isAllowed { fatalError(message(), file: file, line: line) }
}

/// Releases values without recursion.
///
/// The body of one operation may hold the last reference to another operation, and so on. In a long chain, nested
/// deinitializers would overflow the stack.
enum ChainRelease {
    /// The values that the outermost call of `release` on a thread must still release.
    private static let pending = ThreadVariable<[Any]>()

    /// Releases a value. A nested call only stores the value, which the outermost call on the thread then releases.
    static func release(_ value: consuming Any) {
        if let pending = pending.pointer { return pending.pointee.append(value) }
        var values = [value]
        value = ()
        withUnsafeMutablePointer(to: &values) { values in
            pending.pointer = values
            while let last = values.pointee.popLast() { _ = consume last }
            pending.pointer = nil
        }
    }
}
