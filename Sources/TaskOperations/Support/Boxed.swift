/// A value in separately allocated memory. If most owners have no such value, an optional box saves memory, because it
/// takes only 8 bytes of the owner.
///
/// The type has value semantics. Before a change, memory that another box shares is copied.
struct Boxed<Value: Sendable>: @unchecked Sendable {
    // A `Box` is changed only while it has one reference.

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

    // Not inlined, because copies are rare.
    @inline(never)
    private mutating func copy() { box = Box(box.value) }
}
