import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The runner of bodies", .inTurns, .endsInTime)
struct OperationRunnerTests {
    @Test("It does not leave its task while that is being cancelled, and leaves it afterwards")
    func leavesAfterItsUsers() async {
        let runner = BodyTask()
        let gate = Gate()
        let order = Recorder<String>()
        let running = Task {
            runner.begin()
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                gate.open()
                // Long enough for a runner that does not wait for this handler to leave.
                for _ in 0..<100_000 where order.events.isEmpty {}
                order.record("cancelled")
            }
            if runner.end() { await runner.waitUntilUnused() }
            order.record("left")
        }
        await gate.waitForArrivals(1)
        runner.cancel()
        await running.value
        #expect(order.events == ["cancelled", "left"])
    }
}
