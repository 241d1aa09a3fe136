// Thread-local values. The functions of the operating system are in `Platform`.

/// A mark that each thread carries: the identity of an object, or none.
package struct ThreadMark: Sendable {
    private let address = ThreadAddress()

    package init() {}

    /// Whether the calling thread carries the mark of an object.
    package func isSet(to object: ObjectIdentifier) -> Bool {
        UInt(bitPattern: address.value) == UInt(bitPattern: object)
    }

    /// Marks the calling thread.
    package func set(to object: ObjectIdentifier) {
        address.value = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: object))
    }
}

/// A variable on its stack that each thread knows, or none.
struct ThreadVariable<Value>: Sendable {
    private let address = ThreadAddress()

    var pointer: UnsafeMutablePointer<Value>? {
        get { address.value?.assumingMemoryBound(to: Value.self) }
        nonmutating set { address.value = UnsafeMutableRawPointer(newValue) }
    }
}
