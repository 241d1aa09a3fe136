/// A value in separately allocated memory. An optional box takes 8 bytes in an owner that usually has no such value.
///
/// The type has value semantics: a box that another copy refers to is copied before a change.
struct Boxed<Value: Sendable>: @unchecked Sendable {
    // A box is changed only while it has one reference.

    private final class Box {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { copy() }
            yield &box.value
        }
    }

    // Not inlined, because it is called only after a capture of the owner.
    @inline(never)
    private mutating func copy() { box = Box(box.value) }
}
