import Dispatch
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Dispatch groups", .inTurns)
struct DispatchGroupTests {
    @Test("an empty group is finished")
    func empty() async {
        await DispatchGroup().finished()
        #expect(await DispatchGroup().finished(timeout: .distantFuture) == .success)
    }

    @Test("the wait lasts until the group is empty")
    func finished() async {
        let group = DispatchGroup()
        let order = Recorder<String>()
        group.enter()
        group.enter()
        let waits = (0..<3).map { _ in
            Task.immediate {
                await group.finished()
                order.record("finished")
            }
        }
        group.leave()
        order.record("left")
        group.leave()
        for wait in waits { await wait.value }
        #expect(order.events == ["left", "finished", "finished", "finished"])
    }

    @Test("a wait ends at the end of its time, and the group continues")
    func timeout() async {
        let group = DispatchGroup()
        group.enter()
        #expect(await group.finished(timeout: .now() + .milliseconds(1)) == .timedOut)
        let wait = Task.immediate { await group.finished(timeout: .distantFuture) }
        group.leave()
        #expect(await wait.value == .success)
    }

    @Test("waiting holds no thread of the pool")
    func holdsNoThread() async {
        let group = DispatchGroup()
        group.enter()
        let count = 4 * TaskOperationQueue.defaultMaxConcurrentOperationCount
        let arrivals = Gate()
        let waits = (0..<count).map { _ in
            Task {
                Task { await arrivals.pass() }
                await group.finished()
            }
        }
        await arrivals.waitForArrivals(count)
        arrivals.open()
        group.leave()
        for wait in waits { await wait.value }
    }

    @Test("an operation enters a group and leaves it at its end, before awaiting tasks continue")
    func operation() async throws {
        let group = DispatchGroup()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operations = (0..<3).map { _ in TaskOperation {} }
        for operation in operations { group.enter(for: operation) }
        operations[0].cancel()
        try queue.addOperations(operations)
        let wait = Task.immediate { await group.finished() }
        #expect(await group.finished(timeout: .now()) == .timedOut)
        queue.isSuspended = false
        await wait.value
        #expect(operations.allSatisfy { $0.isFinished })

        let last = TaskOperation {}
        group.enter(for: last)
        try last.start()
        try await last.waitUntilFinished()
        #expect(await group.finished(timeout: .now() + .seconds(60)) == .success)
    }

    @Test("old code's blocks and new operations are in one group")
    func mixed() async throws {
        let group = DispatchGroup()
        let queue = TaskOperationQueue()
        let done = ConcurrencyMeter()
        for _ in 0..<100 {
            DispatchQueue.global().async(group: group) { done.enter() }
            let operation = TaskOperation { done.enter() }
            group.enter(for: operation)
            try queue.addOperation(operation)
        }
        await group.finished()
        #expect(done.total == 200)
    }
}
