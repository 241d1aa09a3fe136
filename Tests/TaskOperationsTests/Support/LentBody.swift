import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

/// An executing body that has lent its permit. It awaits an operation of another queue until a gate is opened.
struct LentBody {
    let body: TaskOperation<Void>
    let awaited: TaskOperation<Void>

    /// Adds a body to a queue in which it can start, and makes it lend its permit. It lends the permit because the
    /// operation that it awaits depends on an operation of the same queue.
    ///
    /// - Parameter goOn: Called when the body has its permit again.
    init(
        on queue: TaskOperationQueue, priority: TaskPriority = .medium, until gate: Gate,
        goOn: @escaping @Sendable () -> Void = {}
    ) async throws {
        let need = TaskOperation(priority: .high) {}
        let awaited = TaskOperationQueue().addOperation(priority: .high, dependencies: [need]) { await gate.pass() }
        let body = queue.addOperation(priority: priority) {
            try await awaited.value
            goOn()
        }
        await until { body.isExecuting }
        try queue.addOperation(need)
        try await need.value
        (self.body, self.awaited) = (body, awaited)
    }
}

extension TaskOperationQueue {
    /// The number of bodies that wait for the return of their permits.
    var returningCount: Int { scheduler.withCore { $0.state.permits.returning.count } }
}

extension AnyTaskOperation {
    /// Whether the body waits and keeps its permit.
    var keepsPermit: Bool { record.withLock { $0.links?.extras?.permit == .kept } }
}
