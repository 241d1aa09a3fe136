/// How a task is known to be a body or a child task of it, and not one that has only inherited the body's task locals.
///
/// A child task looks up task locals in its parent, so that it finds the very place where the body's was set. An
/// unstructured task has copies in places of its own.
struct BodyBinding: Equatable, @unchecked Sendable {
    // The address is only compared.
    private let address: UnsafeMutableRawPointer?

    /// Where the calling task finds the current operation.
    static var current: BodyBinding {
        BodyBinding(address: taskLocalValue(Unmanaged.passUnretained(AnyTaskOperation.$executing).toOpaque()))
    }

    /// No place: that of a task which has no current operation.
    static let none = BodyBinding(address: nil)
}

/// The place of a task local's value in the calling task, by the address of its `TaskLocal`: an entry point of the
/// runtime, which inlined code of the standard library calls in every program, so that it is part of its ABI.
@_silgen_name("swift_task_localValueGet")
private func taskLocalValue(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer?
