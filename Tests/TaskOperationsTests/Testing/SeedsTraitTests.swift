import Foundation
import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("The trait .seeds", .inTurns, .timeLimit(.minutes(30)))
struct SeedsTraitTests {
    @Test("a width of 2 is respected, and priorities order waiting operations", .seeds(50))
    func widthAndOrder() async throws {
        let recorder = Recorder<OperationEvent>()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true, executor: .seeded))
        for (name, priority) in [("low", TaskPriority.low), ("high", .high), ("medium", .medium)] {
            queue.addOperation(name: name, priority: priority) {
                await recorder.run(name) { await Task.yield() }
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        recorder.expectStarted("high", "medium", "low")
        recorder.expectAtMost(2)
        recorder.expectAllFinishedOnce()
    }

    @Test("a dependent starts after its dependency", .seeds(50))
    func dependency() async throws {
        let recorder = Recorder<OperationEvent>()
        let (first, second) = (
            TaskOperationQueue(.init(executor: .seeded)), TaskOperationQueue(.init(executor: .seeded))
        )
        let load = first.addOperation { await recorder.run("load") { await Task.yield() } }
        let show = second.addOperation(after: load) { await recorder.run("show") {} }
        try await show.value
        recorder.expectFinished("load", "show")
        recorder.expect("show", startedAfter: "load")
    }

    @Test("a dependent that waits for a manual clock shows the loaded value", .seeds(200))
    func readme() async throws {
        let recorder = Recorder<OperationEvent>()
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: .seeded))
        let load = queue.addOperation { try await recorder.run("load") { try await clock.sleep(for: .seconds(60)) } }
        let show = queue.addOperation(after: load) { await recorder.run("show") {} }

        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        try await show.value
        recorder.expectStarted("load", "show")
        recorder.expectAtMost(2)
    }

    @Test("every run has its own seed", .seeds(3))
    func seedIsKnown() {
        #expect(SeededExecutor.current != nil)
        #expect(SeededExecutor.seeded.jobsRun > 0)
    }

    @Test("a failure names its seed and ends the series")
    func failureNamesItsSeed() async throws {
        let (seeds, comments) = (Recorder<UInt64>(), Recorder<String>())
        let swallowing = IssueHandlingTrait.compactMapIssues { issue in
            for comment in issue.comments { comments.record(comment.rawValue) }
            return nil
        }
        let trait = SeedsTrait(seeds: [0, 1, 2, 3])
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        try await swallowing.provideScope(for: test, testCase: testCase) {
            try await trait.provideScope(for: test, testCase: testCase) {
                let seed = SeededExecutor.seeded.seed
                seeds.record(seed)
                #expect(seed != trait.seeds[2])
            }
        }
        #expect(seeds.events == Array(trait.seeds.prefix(3)))
        #expect(comments.events.contains { $0.contains("under seed \(trait.seeds[2])") })
    }

    @Test("expectations show the recorded events, at the line of the test")
    func expectationsFail() async {
        let recorder = Recorder<OperationEvent>()
        await recorder.run("a") { await recorder.run("b") {} }
        withKnownIssue { recorder.expectStarted("b", "a") }
        withKnownIssue { recorder.expectFinished("a", "b") }
        withKnownIssue { recorder.expect("b", startedAfter: "a") }
        withKnownIssue { recorder.expect("c", startedAfter: "a") }
        withKnownIssue { recorder.expectAtMost(1) }
        recorder.record(.started("a"))
        withKnownIssue { recorder.expectAllFinishedOnce() }
    }
}

@Suite("A test that is stuck under a seed", .inTurns, .prompt, .timeLimit(.minutes(30)))
struct StuckSeedTests {
    @Test("fails, with its seed, and takes nothing else with it")
    func fails() async throws {
        let errors = Recorder<String>()
        let swallowing = IssueHandlingTrait.compactMapIssues { issue in
            errors.record("\(issue.error.map { "\($0)" } ?? "") \(issue.comments.map(\.rawValue))")
            return nil
        }
        let trait = SeedsTrait(seeds: [7, 8])
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        try await swallowing.provideScope(for: test, testCase: testCase) {
            try await trait.provideScope(for: test, testCase: testCase) {
                let queue = TaskOperationQueue(.init(isSuspended: true, executor: .seeded))
                try await queue.addOperation {}.value
                queue.isSuspended = false
            }
            try await trait.provideScope(for: test, testCase: testCase) { await ManualClock().waitForSleepers(1) }
        }
        #expect(errors.events.count == 2)
        #expect(errors.events.allSatisfy { $0.contains("Stuck under seed 7") && $0.contains("TASK_OPERATIONS_SEED=7") })
    }

    @Test("exits once the failure is recorded, if it ignores its cancellation")
    func exits() async {
        await withKnownIssue {
            await #expect(processExitsWith: .exitCode(EXIT_FAILURE)) {
                try SeedsTrait.perform({ await Gate().pass() }, on: SeededExecutor(seed: 7))
            }
        } matching: { issue in
            "\(issue)".contains("Stuck under seed 7")
        }
    }
}
