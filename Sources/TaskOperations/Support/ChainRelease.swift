/// Lets go of values that may be the heads of long chains: the last reference to one operation may be in the body of
/// another, and so on. Left to themselves, their deinitialisers would call each other until the stack overflows.
enum ChainRelease {
    /// What is to be let go of by the outermost call of `release` on a thread.
    private static let pending = ThreadVariable<[Any]>()

    /// Lets go of a value, which the caller gives up: now, or, if that is under way already further up in the stack, after
    /// what is being let go of there.
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
