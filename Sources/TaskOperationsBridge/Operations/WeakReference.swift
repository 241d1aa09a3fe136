/// A weak reference to an object.
///
/// It is a class because without optimisation Swift 6.3 miscompiles the read of a weak property of a structure through
/// an optional chain.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private weak let reference: Object?
    /// The identity of the object. It is unique while the reference is in use, even while the object is being released.
    let identity: ObjectIdentifier

    init(_ object: Object) {
        reference = object
        identity = ObjectIdentifier(object)
    }

    var object: Object? { reference }
}
