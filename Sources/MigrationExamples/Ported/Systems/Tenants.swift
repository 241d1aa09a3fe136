public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Runs the jobs of a noisy and a quiet tenant with eight workers.
    public static func tenants(_ input: RecipeInput) async throws -> RecipeResult {
        let meter = WorkMeter()
        let list = try await withTaskOperationQueue(name: "tenants", failures: .ignore) { queue in
            let tenants = TenantQueue(on: queue)
            tenants.setShare(3, for: "quiet")
            let operations = input.jobs.map { job in
                (job.file, tenants.add(for: job.tenant) { try meter.measure { try job.run() } })
            }
            var list = DigestList()
            for (file, operation) in operations { list.add(file, await operation.result) }
            return list
        }
        try Task.checkCancellation()
        return list.result.adding([meter.most <= 8 ? "within the limit" : "too many at once"])
    }
}

// region: tenants
/// Runs the jobs of all tenants with a number of workers. While several tenants wait, each gets its share.
struct TenantQueue: Sendable {
    private let queue: TaskOperationQueue
    private let workers: AsyncSemaphore

    init(on queue: TaskOperationQueue, workers count: Int = 8) {
        self.queue = queue
        queue.maxConcurrentOperationCount = .max  // the limit decides
        workers = AsyncSemaphore(capacity: count, name: "workers")
    }

    func setShare(_ share: Int, for tenant: String) {
        workers.setShare(share, for: tenant)
    }

    func add<Success: Sendable>(
        for tenant: String, _ job: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        queue.addOperation(.limit(workers, key: tenant), body: job)
    }
}
// endregion
