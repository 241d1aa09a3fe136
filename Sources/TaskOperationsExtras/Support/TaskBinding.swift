internal import CTaskOperations
import Synchronization

/// Tells whether the calling task belongs to the work that has bound a task local.
///
/// The work and its child tasks find the task local at one address. An unstructured task has a copy at another address:
/// see `BodyTask.currentOperation`.
struct TaskBinding: ~Copyable, Sendable {
    /// The address of the task local; 0 before and after the work.
    private let address = Atomic<UInt>(0)

    /// Called by the task that has bound a task local, when the work begins.
    func begin(_ local: TaskLocal<some Sendable>) {
        address.store(Self.address(of: local), ordering: .sequentiallyConsistent)
    }

    /// Called by the same task when the work has ended. Later, a copy of the task local could have the same address.
    func end() { address.store(0, ordering: .sequentiallyConsistent) }

    func isCurrent(_ local: TaskLocal<some Sendable>) -> Bool {
        let address = address.load(ordering: .sequentiallyConsistent)
        return address != 0 && address == Self.address(of: local)
    }

    /// The address at which the calling task finds a task local; 0 if the runtime cannot look it up.
    private static func address(of local: TaskLocal<some Sendable>) -> UInt {
        UInt(bitPattern: taskOperationsTaskLocalValue(Unmanaged.passUnretained(local).toOpaque()))
    }
}
