/// A weak reference to an object.
///
/// This is a class because of a fault in unoptimised builds with Swift 6.3. They miscompile an optional chain that
/// reads a weak property of a structure.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private weak let reference: Object?
    /// The identity of the object. It can be compared even in the `deinit` of the object, when `object` is already nil.
    let identity: ObjectIdentifier

    init(_ object: Object) {
        reference = object
        identity = ObjectIdentifier(object)
    }

    var object: Object? { reference }
}
