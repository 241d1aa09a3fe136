import Foundation
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Faults of other libraries: waiting", .inTurns, .endsInTime)
struct FailureTestsWaiting {
    @Test("Elsewhere awaiting scheduled work from scheduled work deadlocked")
    func awaitingScheduledWork() async throws {
        for width in [1, 2] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
            let outer = (0..<20).map { number in
                queue.addOperation { try await queue.run { try await queue.run { number } } }
            }
            for (number, operation) in outer.enumerated() { #expect(try await operation.value == number) }
        }
    }

    @Test("Elsewhere parent and child deadlocked on one resource: the wait that never ends is refused by name")
    func parentAndChild() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let parent = queue.addOperation(name: "parent") {
            let parent = AnyTaskOperation.current!
            try await queue.run(name: "child", dependencies: [parent]) {}
        }
        _ = await parent.result
        #expect(parent.refusal?.waitCycle == ["parent", "child", "parent"])
        #expect(parent.refusal?.description.contains("\"parent\" waits for \"child\" waits for \"parent\"") == true)
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Elsewhere 200 operations that waited held up unrelated work")
    func waitingHoldsUpNothing() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 200)
        let awaited = TaskOperation {}
        for number in 0..<200 {
            queue.addOperation {
                if number.isMultiple(of: 2) { await gate.pass() } else { try await awaited.value }
            }
        }
        await gate.waitForArrivals(100)
        await until { awaited.waiterCount == 100 }
        #expect(try await TaskOperationQueue().run { 1 } == 1)
        #expect(await Task.detached { 2 }.value == 2)
        gate.open()
        try awaited.start()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    #if os(Linux)
        @Test("Elsewhere 998 threads waited on semaphores for their turn")
        func waitingHasNoThreads() async throws {
            let (gate, held) = (Gate(), AsyncSemaphore(capacity: 0))
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1000)
            let pending = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let before = try threadCount()
            for _ in 0..<1000 {
                queue.addOperation { try await held.withPermit {} }
                pending.addOperation { await gate.pass() }
            }
            await until { held.waitingCount == 1000 && gate.arrivals == 1 }
            // Other tests may start some hundred threads.
            #expect(try threadCount() < before + 500)
            held.capacity = 10
            gate.open()
            try await queue.waitUntilAllOperationsAreFinished()
            try await pending.waitUntilAllOperationsAreFinished()
        }

        private func threadCount() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        }
    #endif

    @Test("Elsewhere a wait that two bodies had for each other over two queues hung without a word")
    func twoQueuesWaitForEachOther() async throws {
        let known = Recorder<TaskOperation<Int>>()
        let gate = Gate()
        let first = TaskOperation(name: "first") {
            await gate.pass()
            return try await known.events[1].value
        }
        let second = TaskOperation(name: "second") {
            await gate.pass()
            return try await known.events[0].value
        }
        for operation in [first, second] { known.record(operation) }
        try TaskOperationQueue(maxConcurrentOperationCount: 1).addOperation(first)
        try TaskOperationQueue(maxConcurrentOperationCount: 1).addOperation(second)
        await gate.waitForArrivals(2)
        gate.open()
        for operation in [first, second] { _ = await operation.result }
        #expect(first.refusal?.waitCycle?.count == 3)
        #expect(second.refusal?.waitCycle?.count == 3)
    }
}
