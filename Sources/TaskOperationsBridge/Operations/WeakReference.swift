/// A reference that does not keep its object.
///
/// A class, though a structure would do: reading a weak property of a structure through an optional chain is
/// miscompiled without optimisation (Swift 6.3).
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private weak let reference: Object?
    /// Tells the object from others for as long as the reference is in use, also while the object is being released.
    let identity: ObjectIdentifier

    init(_ object: Object) {
        reference = object
        identity = ObjectIdentifier(object)
    }

    var object: Object? { reference }
}
