/// Releases values that may be the heads of long chains: the body of one operation may hold the last reference to
/// another, and so on. Without this, their deinitialisers would call each other until the stack overflows.
enum ChainRelease {
    /// The values that the outermost call of `release` on a thread releases.
    private static let pending = ThreadVariable<[Any]>()

    /// Releases a value now. If another call of this function is active on the same stack, releases the value at the
    /// end of that call instead.
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
