import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("A queue whose owner is released", .inTurns, .endsInTime)
struct ReleasedQueueTests {
    @Test("Bodies that ask for the current queue while its owner is released do no harm")
    func currentWhileReleased() async throws {
        for _ in 0..<20 {
            var queue: TaskOperationQueue? = TaskOperationQueue(maxConcurrentOperationCount: 2)
            let operations = (0..<2).map { _ in
                queue!.addOperation { for _ in 0..<20_000 { _ = TaskOperationQueue.current } }
            }
            queue = nil
            for operation in operations { try await operation.value }
        }
    }

    @Test("Bodies that add to the current queue walk a tree after the queue was released")
    func treeWalk() async throws {
        let visited = Recorder<Int>()
        let done = Gate()
        @Sendable func visit(_ node: Int) {
            visited.record(node)
            if visited.events.count == 1023 { done.open() }
            for child in [2 * node, 2 * node + 1] where child < 1024 {
                TaskOperationQueue.current!.addOperation { visit(child) }
            }
        }
        _ = TaskOperationQueue(maxConcurrentOperationCount: 2).addOperation { visit(1) }
        await done.pass()
        #expect(Set(visited.events) == Set(1...1023))
    }

    @Test("The owner is released at any moment of a body that asks for the current queue")
    func releaseAtAnyMoment() async throws {
        for _ in 0..<2000 {
            let holder = QueueHolder(TaskOperationQueue(maxConcurrentOperationCount: 1))
            let asking = holder.queue!.addOperation { TaskOperationQueue.current }
            async let dropped: Void = holder.drop()
            let found = try await asking.value
            await dropped
            #expect(found != nil)
            #expect(try await found?.addOperation { 1 }.value == 1)
        }
    }

    @Test("Letting go of a view changes nothing")
    func viewsMeanNothing() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let owned = queue.addOperation { _ = TaskOperationQueue.current }
        try await owned.value
        queue.isSuspended = true
        let released = {
            TaskOperationQueue(name: "released", maxConcurrentOperationCount: 1).addOperation {
                await gate.pass()
                let views = [TaskOperationQueue.current!, TaskOperationQueue.current!]
                return (views, views[0].addOperation { "late" })
            }
        }()
        gate.open()
        var (views, late) = try await released.value
        #expect(views[0] == views[1])
        #expect(views[0] != queue)
        #expect(Set(views).count == 1)
        views.removeFirst()
        #expect(try await late.value == "late")
        #expect(views[0].name == "released")
        #expect(queue.isSuspended)
    }

    @Test("The release of a suspended queue finishes its operations, or cancels them if the configuration says this")
    func whenReleased() async throws {
        for whenReleased in [TaskOperationQueue.Configuration.ReleaseRule.finish, .cancel] {
            let (gate, uploads) = (Gate(), Recorder<Int>())
            let (executing, held) = await {
                let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, whenReleased: whenReleased))
                let executing = queue.addOperation {
                    await gate.pass()
                    let added = TaskOperationQueue.current!.addOperation { uploads.record(9) }
                    return (isCancelled: Task.isCancelled, added: added)
                }
                await gate.waitForArrivals(1)
                queue.isSuspended = true
                return (executing, (0..<3).map { number in queue.addOperation { uploads.record(number) } })
            }()
            gate.open()
            let (isCancelled, added) = try await executing.value
            for operation in held + [added] { _ = await operation.result }
            #expect(uploads.events == (whenReleased == .finish ? [0, 1, 2, 9] : []))
            #expect(isCancelled == (whenReleased == .cancel))
            for operation in held + [added] { #expect(operation.isCancelled == (whenReleased == .cancel)) }
        }
    }

    @Test("It can neither be suspended nor narrowed to nothing any more")
    func cannotBeHeldUp() async throws {
        let gate = Gate()
        let operation = {
            TaskOperationQueue(.init(maxConcurrentOperationCount: 0, isSuspended: true)).addOperation {
                await gate.pass()
                let queue = TaskOperationQueue.current!
                queue.isSuspended = true
                queue.maxConcurrentOperationCount = 0
                return (queue, queue.addOperation { true })
            }
        }()
        gate.open()
        let (queue, added) = try await operation.value
        #expect(!queue.isSuspended)
        #expect(queue.maxConcurrentOperationCount == 1)
        #expect(try await added.value)
    }
}
