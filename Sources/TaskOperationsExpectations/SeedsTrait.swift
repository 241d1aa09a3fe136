internal import Foundation
package import TaskOperationsTesting
package import Testing

/// Runs a test once for each of many seeds, on a `SeededExecutor`. Each seed gives a different interleaving of its
/// tasks.
///
/// ```swift
/// @Test(.seeds(200)) func nothingIsLost() async throws {
///     let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: .seeded))
///     …
/// }
/// ```
///
/// A failure names its seed, and no further seeds run. To run only that seed, set the environment variable
/// `TASK_OPERATIONS_SEED` to it.
///
/// A test that is stuck under a seed is cancelled, and fails. If it ignores the cancellation, the process exits after
/// the failure is recorded.
package struct SeedsTrait: TestTrait, SuiteTrait, TestScoping {
    /// The seeds, in order.
    package let seeds: [UInt64]

    /// Creates a trait for given seeds.
    package init(seeds: [UInt64]) {
        self.seeds = seeds
    }

    /// A suite that has the trait passes it on to its tests.
    package var isRecursive: Bool { true }

    /// Runs a test under each seed, until one fails. Testing calls this.
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for seed in seeds {
            let hasFailed = Recorder<Void>()
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("under seed \(seed); TASK_OPERATIONS_SEED=\(seed) runs it alone")
                hasFailed.record(())
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                do {
                    try Self.perform(function, on: SeededExecutor(seed: seed))
                } catch {
                    Issue.record(error)
                }
            }
            if !hasFailed.events.isEmpty { return }
        }
    }

    package static func perform(
        _ function: @concurrent @Sendable () async throws -> Void, on executor: SeededExecutor
    ) throws {
        try withoutActuallyEscaping(function) { function in
            do {
                try executor.run { try await SeededExecutor.$current.withValue(executor) { try await function() } }
            } catch let error as SeededRunError where error.leavesTask {
                // The function must not outlive this call.
                Issue.record(error, "The test ignores its cancellation, so the process exits.")
                exit(EXIT_FAILURE)
            }
        }
    }
}

extension Trait where Self == SeedsTrait {
    /// Runs a test under the given number of seeds: 0, 1, 2 and so on.
    ///
    /// - Parameter count: At least 1. The environment variable `TASK_OPERATIONS_SEEDS` overrules it, and
    ///   `TASK_OPERATIONS_SEED` takes a single seed instead.
    package static func seeds(_ count: Int = 100) -> Self {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["TASK_OPERATIONS_SEED"].flatMap({ UInt64($0) }) { return Self(seeds: [seed]) }
        let count = environment["TASK_OPERATIONS_SEEDS"].flatMap { Int($0) } ?? count
        return Self(seeds: (0..<UInt64(max(1, count))).map { $0 })
    }
}
