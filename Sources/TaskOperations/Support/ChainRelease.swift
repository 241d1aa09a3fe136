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
