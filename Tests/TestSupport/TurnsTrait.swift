internal import Foundation
internal import TaskOperations
package import Testing

/// Limits the number of tests that run at once.
///
/// Hundreds of tests at once take a third more processor time than one after the other: they poll on the threads of the
/// pool, and share its caches. Tests that compute on their own threads are limited there.
///
/// The timeout of a test includes the wait for its turn, which can take minutes on a busy machine.
package struct TurnsTrait: TestTrait, SuiteTrait, TestScoping {
    /// Enough that tests that wait leave no processor idle.
    private static let turns = AsyncSemaphore(capacity: 3 * ProcessInfo.processInfo.activeProcessorCount)

    /// A suite that has the trait passes it on to its tests.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if testCase == nil { return try await function() }
        try await Self.turns.withPermit { try await function() }
    }
}

extension Trait where Self == TurnsTrait {
    /// Makes a test wait until few other tests run.
    package static var inTurns: Self { Self() }
}

extension Trait where Self == TimeLimitTrait {
    /// Fails a test that hangs. The time includes the wait for a turn. It is shorter than the time for all checks, so that
    /// the failure names the test.
    package static var endsInTime: Self { .timeLimit(.minutes(45)) }
}
