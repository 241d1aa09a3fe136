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
