/// A value in memory of its own. An optional one takes 8 bytes in an owner that mostly has no such value.
///
/// It has the semantics of a value: a box that another copy refers to is copied before a change.
struct Boxed<Value: Sendable>: @unchecked Sendable {
    // A box is changed only while nothing else refers to it.

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

    // Not inlined: it is never called but after a capture of the owner.
    @inline(never)
    private mutating func copy() { box = Box(box.value) }
}
