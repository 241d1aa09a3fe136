@testable import TaskOperations

extension AnyTaskOperation {
    /// The number of tasks that await the operation.
    var waiterCount: Int { record.withLock { $0.links?.waiters.count ?? 0 } }
}
