internal import CTaskOperations
import Synchronization
import TaskOperations

/// Work that has a permit of a pool's limit. The work and its child tasks find it through a task local.
final class PoolLoan: Sendable {
    @TaskLocal private static var inherited: PoolLoan?

    private let limit: AsyncSemaphore
    /// The loan of the work that began this work.
    private let outer: PoolLoan?
    /// The address of the task local through which the work finds this object; 0 before and after the work.
    private let binding = Atomic<UInt>(0)

    private init(_ limit: AsyncSemaphore, within outer: PoolLoan?) {
        self.limit = limit
        self.outer = outer
    }

    /// Runs work that has a permit of a limit.
    static func during<Value>(
        _ limit: AsyncSemaphore, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async rethrows -> Value {
        let loan = PoolLoan(limit, within: current)
        return try await $inherited.withValue(
            loan,
            operation: {
                _ = isolation  // A closure that does not use `isolation` would leave the actor.
                loan.binding.store(currentBinding, ordering: .relaxed)
                // The address could later be that of a copy in another task.
                defer { loan.binding.store(0, ordering: .relaxed) }
                return try await work()
            }, isolation: isolation)
    }

    /// Whether the calling task belongs to work that has a permit of a limit.
    static func has(_ limit: AsyncSemaphore) -> Bool {
        var loan = current
        while let present = loan {
            if present.limit === limit { return true }
            loan = present.outer
        }
        return AnyTaskOperation.current?.limits.contains { $0 === limit } ?? false
    }

    /// The loan of the calling task, or of its nearest parent task that has one. An unstructured task has a copy of the
    /// task local of its creator, at another address: see `BodyTask.currentOperation`.
    private static var current: PoolLoan? {
        guard let loan = inherited else { return nil }
        let binding = loan.binding.load(ordering: .relaxed)
        return binding != 0 && binding == currentBinding ? loan : nil
    }

    private static var currentBinding: UInt {
        UInt(bitPattern: taskOperationsTaskLocalValue(Unmanaged.passUnretained($inherited).toOpaque()))
    }
}
