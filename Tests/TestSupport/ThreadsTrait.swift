internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TaskOperations
package import Testing

/// Whether the environment variable `TASK_OPERATIONS_DEEP` is set, as `.ci/run` sets it. Long tests then run at their
/// full size.
package let isDeep = ProcessInfo.processInfo.environment["TASK_OPERATIONS_DEEP"] != nil

/// Runs tests on threads of their own.
package struct ThreadsTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let threads: TestThreads

    /// A suite that has the trait passes it on to its tests.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if testCase == nil { return try await function() }
        try await withTaskExecutorPreference(threads) { try await function() }
    }
}

extension Trait where Self == ThreadsTrait {
    /// Keeps a test that computes for seconds without suspending off the cooperative pool, where it would keep every
    /// other test waiting at each of its suspensions.
    package static var computing: Self { Self(threads: .computing) }

    /// Runs a test without delay, even if the cooperative pool is busy. One use is a test during which other code
    /// spins: the monitor of exit tests spins after the end of a process until the waiting test is notified, and
    /// Foundation's `URLSession` on Linux spins from a request until its response. The other use is a test that blocks
    /// a thread of the pool. The pool may have only two threads, and two such tests would wait for each other forever.
    package static var prompt: Self { Self(threads: .prompt) }
}

/// Threads that run jobs in the order of arrival.
private final class TestThreads: TaskExecutor {
    static let computing = TestThreads(count: ProcessInfo.processInfo.activeProcessorCount, niceness: 10)
    static let prompt = TestThreads(count: 2, niceness: 0)

    private let jobs = Lock<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    private init(count: Int, niceness: CInt) {
        for _ in 0..<count {
            let thread = Thread { self.serve(niceness: niceness) }
            // Small, so that recursion over tested data structures is detected early.
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    private func serve(niceness: CInt) {
        // On Linux a thread has a niceness of its own.
        #if canImport(Glibc)
            setpriority(CInt(PRIO_PROCESS.rawValue), 0, niceness)
        #elseif os(Linux)
            setpriority(PRIO_PROCESS, 0, niceness)
        #endif
        while true {
            arrivals.wait()
            jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
