import Dispatch
import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The trait .schedules", .endsInTime)
struct SchedulesTraitTests {
    @Test("Each run of a test has a task local of the test and its own objects", .schedules(20))
    func passes() async throws {
        #expect(Test.current != nil)
        #expect(isOnExploringThread())
        let counter = Counter()
        async let one: Void = counter.increment()
        await counter.increment()
        await one
        #expect(await counter.value == 2)
    }

    @Test("A test on the main actor runs under schedules", .schedules(20)) @MainActor
    func mainActor() async {
        MainActor.assertIsolated()
        let task = Task { @MainActor in MainActor.assertIsolated() }
        await task.value
    }

    /// The issues of a body with the trait.
    private func issues(
        _ schedules: Schedules = Schedules(1_000), _ body: @concurrent @Sendable () async throws -> Void
    ) async throws -> [String] {
        let recorder = Recorder<String>()
        let swallowing = IssueHandlingTrait.compactMapIssues { issue in
            recorder.record("\(issue) \(issue.comments.map(\.rawValue).joined())")
            return nil
        }
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        try await swallowing.provideScope(for: test, testCase: testCase) {
            try await SchedulesTrait(schedules).provideScope(for: test, testCase: testCase, performing: body)
        }
        return recorder.events
    }

    @Test("A failed expectation is reported once, with the steps of a short schedule")
    func expectation() async throws {
        let issues = try await issues {
            let (counter, fee) = (Counter(), Fee())
            async let one: Void = counter.add(fee)
            await counter.add(fee)
            await one
            #expect(await counter.value == 2)
        }
        #expect(issues.count == 1)
        #expect(issues[0].contains("counter.value == 2"))
        #expect(issues[0].contains("TASK_OPERATIONS_SCHEDULE="))
        #expect(issues[0].contains("\n→ "))
    }

    @Test("An error that the body throws is reported once")
    func error() async throws {
        let issues = try await issues { throw Fault() }
        #expect(issues.count == 1)
        #expect(issues[0].contains("Fault"))
    }

    @Test("Two tests that may run in parallel explore at the same time")
    func parallel() async throws {
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        let arrivals = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Each body blocks its thread until the other one runs.
        async let one: Void = SchedulesTrait.schedules(1, parallel: true).provideScope(for: test, testCase: testCase) {
            arrivals.0.signal()
            #expect(wait(for: arrivals.1))
        }
        async let other: Void = SchedulesTrait.schedules(1, parallel: true).provideScope(for: test, testCase: testCase)
        {
            arrivals.1.signal()
            #expect(wait(for: arrivals.0))
        }
        _ = try await (one, other)
    }

    @Test("A body that ignores its cancellation fails, and the process continues")
    func stuck() async throws {
        var schedules = Schedules(10)
        schedules.patience = .milliseconds(20)
        let issues = try await issues(schedules) { await Gate().pass() }
        #expect(issues.count == 1)
        #expect(issues[0].contains("no job is left"))
    }

    @Test("A body that blocks its thread fails, and the process continues")
    func blocked() async throws {
        var schedules = Schedules(10)
        schedules.blockLimit = .milliseconds(200)
        let issues = try await issues(schedules) { block() }
        #expect(issues.count == 1)
        #expect(issues[0].contains("blocks its thread"))
    }
}

private func block() { DispatchSemaphore(value: 0).wait() }

/// Blocks the thread. Returns false if the signal does not come.
private func wait(for semaphore: DispatchSemaphore) -> Bool { semaphore.wait(timeout: .now() + 50) == .success }

#if os(Linux)
    /// Tests that fail, for the test below.
    @Suite(.enabled(if: ProcessInfo.processInfo.environment.keys.contains("FAILING_SCHEDULES")))
    struct FailingSchedulesTests {
        @Test(.schedules(20))
        func detachedTask() async {
            await Task.detached { #expect(Bool(false)) }.value
        }

        @Test(.schedules(20))
        func operation() async throws {
            try await TaskOperationQueue().addOperation { #expect(Bool(false)) }.value
        }

        /// Receives the issues of the others, which belong to no test.
        @Test(.schedules(100_000))
        func other() async {
            await Task.yield()
            await Task.yield()
        }
    }

    @Suite("Expectations that belong to no test")
    struct UnknownIssueTests {
        @Test("The test fails whose schedule runs them, and no other test", .timeLimit(.minutes(10)))
        func unknown() async throws {
            let process = Process()
            process.executableURL = URL(filePath: "/proc/self/exe")
            process.arguments = ["--testing-library", "swift-testing", "--filter", "FailingSchedulesTests"]
            process.environment = ProcessInfo.processInfo.environment.merging(["FAILING_SCHEDULES": "1"]) { $1 }
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            for test in ["detachedTask()", "operation()"] {
                #expect(text.contains("Test \(test) failed"), "\(text)")
                let issues = text.split(separator: "\n").filter { $0.contains("Test \(test) recorded an issue") }
                #expect(issues.count == 1, "\(text)")
            }
            #expect(text.contains("Test other() passed"), "\(text)")
        }
    }
#endif
