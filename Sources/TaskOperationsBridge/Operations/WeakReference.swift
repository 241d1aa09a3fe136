/// A reference that does not keep its object.
///
/// A class, though a structure would do: reading a weak property of a structure through an optional chain is
/// miscompiled without optimisation (Swift 6.3).
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private weak let reference: Object?

    init(_ object: Object) {
        reference = object
    }

    var object: Object? { reference }
}
