internal import CTaskOperations
import Synchronization

/// Tells whether the calling task belongs to the work that has bound a task local.
///
/// The work and its child tasks find the task local at one address. An unstructured task has a copy at another address:
/// see `BodyTask.currentOperation`.
struct TaskBinding: ~Copyable, Sendable {
    /// The address of the task local; 0 before and after the work.
    private let address = Atomic<UInt>(0)

    /// Runs work with a task local bound to a value. Call it only once.
    func during<Local: Sendable, Value>(
        _ local: TaskLocal<Local>, _ value: Local, isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        try await local.withValue(
            value,
            operation: {
                _ = isolation  // A closure that does not use `isolation` would leave the actor.
                address.store(Self.address(of: local), ordering: .sequentiallyConsistent)
                // Later, a copy of the task local could have the same address.
                defer { address.store(0, ordering: .sequentiallyConsistent) }
                return try await work()
            }, isolation: isolation)
    }

    func isCurrent(_ local: TaskLocal<some Sendable>) -> Bool {
        let address = address.load(ordering: .sequentiallyConsistent)
        return address != 0 && address == Self.address(of: local)
    }

    /// The address at which the calling task finds a task local; 0 if the runtime cannot look it up.
    private static func address(of local: TaskLocal<some Sendable>) -> UInt {
        UInt(bitPattern: taskOperationsTaskLocalValue(Unmanaged.passUnretained(local).toOpaque()))
    }
}
