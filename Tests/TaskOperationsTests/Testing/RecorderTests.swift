import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Recorders of operations", .inTurns, .endsInTime)
struct RecorderTests {
    @Test("a width of 2 is respected, and priorities order waiting operations", .schedules(50))
    func widthAndOrder() async throws {
        let recorder = Recorder<WorkEvent>()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
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

    @Test("a dependent starts after its dependency", .schedules(50))
    func dependency() async throws {
        let recorder = Recorder<WorkEvent>()
        let (first, second) = (TaskOperationQueue(), TaskOperationQueue())
        let load = first.addOperation { await recorder.run("load") { await Task.yield() } }
        let show = second.addOperation(after: load) { await recorder.run("show") {} }
        try await show.value
        recorder.expectFinished("load", "show")
        recorder.expect("show", startedAfter: "load")
    }

    @Test("a dependent that waits for a manual clock shows the loaded value", .schedules(200))
    func readme() async throws {
        let recorder = Recorder<WorkEvent>()
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let load = queue.addOperation { try await recorder.run("load") { try await clock.sleep(for: .seconds(60)) } }
        let show = queue.addOperation(after: load) { await recorder.run("show") {} }

        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        try await show.value
        recorder.expectStarted("load", "show")
        recorder.expectAtMost(2)
    }

    @Test("expectations show the recorded events, at the line of the test")
    func expectationsFail() async {
        let recorder = Recorder<WorkEvent>()
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
