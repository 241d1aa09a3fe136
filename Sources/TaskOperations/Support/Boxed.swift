/// A value in separately allocated memory. An optional box takes 8 bytes in its owner, which saves memory if most
/// owners have no such value.
///
/// The type has value semantics. Before a change, the memory is copied if another box shares it.
struct Boxed<Value: Sendable>: @unchecked Sendable {
    // A `Box` is changed only while it has one reference.

    private final class Box {
        // Every access is an access to a `Boxed`, whose exclusivity the compiler checks.
        @exclusivity(unchecked) var value: Value

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
