/// Distinguishes a body and its child tasks from unstructured tasks that have only inherited the body's task locals.
///
/// A child task looks up task locals in its parent, so it finds the binding of the body, at the same address. An
/// unstructured task has copies of the bindings, at other addresses.
struct BodyBinding: Equatable, @unchecked Sendable {
    // The address is only compared.
    private let address: UnsafeMutableRawPointer?

    /// The binding in which the calling task finds the current operation.
    static var current: BodyBinding {
        BodyBinding(address: taskLocalValue(Unmanaged.passUnretained(AnyTaskOperation.$executing).toOpaque()))
    }

    /// The binding of a task that has no current operation.
    static let none = BodyBinding(address: nil)
}

/// The place of a task local's value in the calling task, by the address of its `TaskLocal`: an entry point of the
/// runtime, which inlined code of the standard library calls in every program, so that it is part of its ABI.
@_silgen_name("swift_task_localValueGet")
private func taskLocalValue(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer?
