import TaskOperations

/// Runs jobs of tenants: 8 workers shared fairly, at most 3 for a tenant, a budget of memory, and 1,000 waiting jobs.
struct JobService<Tenant: Hashable & Sendable>: Sendable {
    private let workers = AsyncSemaphore(capacity: 8, perKey: 3, name: "workers")
    private let memory: AsyncSemaphore
    private let queue = TaskOperationQueue(
        .init(name: "jobs", maxConcurrentOperationCount: 8, maxQueuedOperationCount: 1000))

    init(mebibytes: Int) {
        memory = AsyncSemaphore(capacity: mebibytes, name: "memory")
    }

    /// A refused job fails at once with `TaskOperationError.queueFull`.
    @discardableResult
    func add<Value: Sendable>(
        for tenant: Tenant, mebibytes: Int, _ job: @escaping @Sendable () async throws -> Value
    ) -> TaskOperation<Value> {
        queue.addOperation(
            [.limit(workers, key: tenant), .limit(memory, weight: mebibytes)], body: job)
    }

    func cancelJobs(of tenant: Tenant) {
        jobs(of: tenant).forEach { $0.cancel() }
    }

    func counts(of tenant: Tenant) -> (waiting: Int, running: Int) {
        let jobs = jobs(of: tenant)
        let running = jobs.count(where: \.isExecuting)
        return (jobs.count - running, running)
    }

    private func jobs(of tenant: Tenant) -> [AnyTaskOperation] {
        queue.operations.filter { $0.isLimited(by: workers, key: tenant) }
    }
}
