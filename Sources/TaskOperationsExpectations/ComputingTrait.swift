internal import Dispatch
internal import Foundation
internal import TaskOperations
package import Testing

/// Whether the environment variable `TASK_OPERATIONS_DEEP` is set, as `.ci/run` sets it: what takes long is then
/// tested at its full size.
package let isDeep = ProcessInfo.processInfo.environment["TASK_OPERATIONS_DEEP"] != nil

/// Runs tests that compute for seconds without suspending on threads of their own. On the cooperative pool they would
/// keep every other test waiting at each of its suspensions.
package struct ComputingTrait: TestTrait, SuiteTrait, TestScoping {
    /// A suite that has the trait passes it on to its tests.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if testCase == nil { return try await function() }
        try await withTaskExecutorPreference(ComputingThreads.shared) { try await function() }
    }
}

extension Trait where Self == ComputingTrait {
    /// Keeps a test that computes for long off the cooperative pool.
    package static var computing: Self { Self() }
}

/// As many threads as there are processors, which take jobs in the order of their coming.
private final class ComputingThreads: TaskExecutor {
    static let shared = ComputingThreads(count: ProcessInfo.processInfo.activeProcessorCount)

    private let jobs = Lock<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    private init(count: Int) {
        for _ in 0..<count { Thread.detachNewThread { self.serve() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    private func serve() {
        #if os(Linux)
            // On Linux a thread has a niceness of its own.
            setpriority(CInt(PRIO_PROCESS.rawValue), 0, 10)
        #endif
        while true {
            arrivals.wait()
            jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
