import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Runs the jobs of a noisy and a quiet tenant with eight workers.
    public static func tenants(_ input: RecipeInput) throws -> RecipeResult {
        let (meter, lock) = (WorkMeter(), NSLock())
        var list = DigestList()
        let tenants = TenantQueue()
        input.cancellation.onCancel { tenants.cancel() }
        tenants.setShare(3, for: "quiet")
        for job in input.jobs {
            tenants.add(for: job.tenant) {
                let digest = meter.measure { Result { try job.run() } }
                lock.withLock { list.add(job.file, digest) }
            }
        }
        tenants.waitUntilFinished()
        try input.cancellation.check()
        return list.result.adding([meter.most <= 8 ? "within the limit" : "too many at once"])
    }
}

// region: tenants
/// Runs the jobs of all tenants with a number of workers. While several tenants wait, each gets its share.
final class TenantQueue: @unchecked Sendable {
    private let lock = NSLock()
    private let workers = OperationQueue()
    private let unfinished = DispatchGroup()
    private var freeWorkers: Int
    private var jobs: [String: [() -> Void]] = [:]
    private var shares: [String: Double] = [:]
    private var uses: [String: Double] = [:]  // keeps a number for each tenant that it has ever met
    private var lastUse = 0.0

    init(workers count: Int = 8) {
        freeWorkers = count
        workers.maxConcurrentOperationCount = count
    }

    func setShare(_ share: Double, for tenant: String) {
        lock.withLock { shares[tenant] = share }
    }

    func add(for tenant: String, _ job: @escaping () -> Void) {
        unfinished.enter()
        lock.lock()
        if jobs[tenant, default: []].isEmpty {
            uses[tenant] = max(uses[tenant] ?? 0, lastUse)  // a tenant without jobs saves nothing up
        }
        jobs[tenant, default: []].append(job)
        lock.unlock()
        startNext()
    }

    private func startNext() {
        guard let job = lock.withLock(takeNext) else { return }
        workers.addOperation { [self] in
            job()
            lock.withLock { freeWorkers += 1 }
            unfinished.leave()
            startNext()
        }
    }

    /// Takes the first job of the tenant that has used the least of its share.
    private func takeNext() -> (() -> Void)? {
        let next = jobs.keys.min { (uses[$0]!, $0) < (uses[$1]!, $1) }
        guard freeWorkers > 0, let tenant = next, let job = jobs[tenant]?.removeFirst() else { return nil }
        if jobs[tenant]!.isEmpty { jobs[tenant] = nil }
        lastUse = uses[tenant]!
        uses[tenant] = lastUse + 1 / (shares[tenant] ?? 1)
        freeWorkers -= 1
        return job
    }

    func cancel() {
        lock.lock()
        let count = jobs.values.reduce(0) { $0 + $1.count }
        jobs = [:]
        lock.unlock()
        for _ in 0..<count { unfinished.leave() }
    }

    func waitUntilFinished() {
        unfinished.wait()
    }
}
// endregion
