import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 20: the current operation and queue", .inTurns, .endsInTime)
struct CurrentOperationRuleTests {
    private struct Seen: Sendable {
        let operation = AnyTaskOperation.current
        let queue = TaskOperationQueue.current
    }

    @Test("A body and its child tasks see their own operation and queue")
    func withinABody() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let operations = (0..<50).map { _ in
            queue.addOperation {
                async let child = Seen()
                let group = await withTaskGroup(of: Seen.self) { group in
                    group.addTask {
                        await Task.yield()
                        return Seen()
                    }
                    return await group.next()!
                }
                return [Seen(), await child, group]
            }
        }
        for operation in operations {
            for seen in try await operation.value {
                #expect(seen.operation === operation)
                #expect(seen.queue === queue)
            }
        }
    }

    @Test("An unstructured task of a body has no current operation, also while its worker runs other bodies")
    func unstructured() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let first = queue.addOperation {
            let atOnce = await Task { Seen() }.value
            let later = Task {
                await gate.pass()
                return Seen()
            }
            return (atOnce, later)
        }
        let second = queue.addOperation {
            gate.open()
            return try await first.value.1.value
        }
        for seen in try await [first.value.0, second.value] {
            #expect(seen.operation == nil)
            #expect(seen.queue == nil)
        }
    }

    @Test("Within the scope of a body, that body is the current one before and after the bodies of the scope")
    func scopeWithinABody() async throws {
        let seen = Recorder<Seen>()
        let outer = TaskOperationQueue(name: "outer").addOperation {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                queue.addBodyInterceptor { _, body in
                    seen.record(Seen())
                    try await body()
                    seen.record(Seen())
                }
                for _ in 0..<3 { queue.addOperation { await Task.yield() } }
            }
        }
        try await outer.value
        #expect(seen.events.count == 6)
        #expect(seen.events.allSatisfy { $0.operation === outer && $0.queue?.name == "outer" })
    }

    @Test("Both ways of asking for the operation say the same")
    func bothWaysOfAsking() async throws {
        let operation = TaskOperationQueue().addOperation { AnyTaskOperation.current === AnyTaskOperation.current }
        #expect(try await operation.value)
        #expect(AnyTaskOperation.current == nil)
    }

    @Test("Outside there is none, in a detached task and a completion handler neither")
    func outside() async throws {
        #expect(AnyTaskOperation.current == nil)
        #expect(TaskOperationQueue.current == nil)
        let handled = Recorder<Seen>()
        let operation = TaskOperation { await Task.detached { Seen() }.value }
        operation.addCompletionHandler { handled.record(Seen()) }
        try TaskOperationQueue().addOperation(operation)
        let detached = try await operation.value
        await until { !handled.events.isEmpty }
        for seen in [detached] + handled.events {
            #expect(seen.operation == nil)
            #expect(seen.queue == nil)
        }
        #expect(handled.events.count == 1)
    }

    @Test("An operation that a body adds is the current one in its own body")
    func nested() async throws {
        let (outerQueue, innerQueue) = (TaskOperationQueue(), TaskOperationQueue())
        let outer = outerQueue.addOperation {
            let inner = innerQueue.addOperation { Seen() }
            return (try await inner.value, Seen(), inner)
        }
        let (inside, afterwards, inner) = try await outer.value
        #expect(inside.operation === inner)
        #expect(inside.queue === innerQueue)
        #expect(afterwards.operation === outer)
        #expect(afterwards.queue === outerQueue)
    }

    @Test("One that was started by hand has no queue")
    func startedByHand() async throws {
        let operation = TaskOperation { Seen() }
        try operation.start()
        let seen = try await operation.value
        #expect(seen.operation === operation)
        #expect(seen.queue == nil)
    }

    @Test("Where the queue was released, its bodies can still ask for it and add to it")
    func releasedQueue() async throws {
        let gate = Gate()
        let operation = {
            TaskOperationQueue(name: "released").addOperation {
                await gate.pass()
                let queue = TaskOperationQueue.current
                return (queue?.name, queue?.addOperation { 1 })
            }
        }()
        gate.open()
        let (name, added) = try await operation.value
        #expect(name == "released")
        #expect(try await added?.value == 1)
    }
}
