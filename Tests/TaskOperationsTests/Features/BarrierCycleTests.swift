import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Dependency cycles through barriers", .inTurns, .endsInTime)
struct BarrierCycleTests {
    @Test("A barrier that something before it depends on is refused, and can be added elsewhere")
    func barrierThatIsDependedOn() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let barrier = TaskOperation(name: "barrier") {}
        let before = queue.addOperation(name: "before", dependencies: [barrier]) {}
        let error = refusal { try queue.addBarrier(barrier) }
        #expect(error?.dependencyCycle == ["barrier", "before", "barrier"])
        #expect(queue.operations == [before])
        try TaskOperationQueue().addBarrier(barrier)
        queue.isSuspended = false
        try await before.value
    }

    @Test("A barrier can be added after a search has lowered the end of a queue that no body awaits any more")
    func endThatIsNotAwaited() async throws {
        let queue = TaskOperationQueue()
        #expect(queue.scheduler.lowerEnd(to: TaskOperation {}.rank.value))
        try await queue.addBarrier {}.value
    }

    @Test("A cancelled barrier delays no operation, and is accepted although an operation before it depends on it")
    func cancelledBarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let barrier = TaskOperation {}
        let late = TaskOperation(dependencies: [barrier]) {}
        let before = queue.addOperation(dependencies: [late]) {}
        barrier.cancel()
        try queue.addBarrier(barrier)
        try TaskOperationQueue().addOperation(late)
        queue.isSuspended = false
        try await before.value
    }

    @Test("An operation behind a barrier that waits for it is refused, and can be added elsewhere")
    func operationBehindABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let late = TaskOperation(name: "late") {}
        let before = queue.addOperation(name: "before", dependencies: [late]) {}
        let barrier = queue.addBarrier(name: "barrier") { before.isFinished }
        let error = refusal { try queue.addOperation(late) }
        #expect(error?.dependencyCycle == ["late", "barrier", "before", "late"])
        #expect(queue.operationCount == 2)
        try TaskOperationQueue().addOperation(late)
        queue.isSuspended = false
        #expect(try await barrier.value)
    }

    @Test("If one of a batch would be behind its own waiter, the whole batch is refused")
    func batchBehindABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let late = TaskOperation(name: "late") {}
        let other = TaskOperation(name: "other") {}
        queue.addOperation(name: "before", dependencies: [late]) {}
        queue.addBarrier(name: "barrier") {}
        let error = refusal { try queue.addOperations([other, late]) }
        #expect(error?.dependencyCycle == ["late", "barrier", "before", "late"])
        #expect(queue.operationCount == 2)
        try TaskOperationQueue().addOperations([late, other])
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A dependency of something before a barrier on something behind it is refused")
    func dependencyAcrossABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(name: "before") {}
        let barrier = queue.addBarrier(name: "barrier") {}
        let behind = queue.addOperation(name: "behind") {}
        #expect(
            refusal { try before.addDependency(behind) }?.dependencyCycle == ["before", "behind", "barrier", "before"])
        #expect(refusal { try before.addDependency(barrier) }?.dependencyCycle == ["before", "barrier", "before"])
        #expect(
            refusal { try barrier.addDependency(behind) }?.dependencyCycle == ["barrier", "behind", "barrier"])
        #expect(before.dependencies == [])
        try behind.addDependency(before)
        queue.isSuspended = false
        try await behind.value
    }

    @Test("A cycle through the barriers of two queues is refused")
    func barriersOfTwoQueues() async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(isSuspended: true)) }
        let before = queues.enumerated().map { number, queue in queue.addOperation(name: "before \(number)") {} }
        for (number, queue) in queues.enumerated() { queue.addBarrier(name: "barrier \(number)") {} }
        let behind = queues.enumerated().map { number, queue in queue.addOperation(name: "behind \(number)") {} }
        try before[0].addDependency(behind[1])
        let error = refusal { try before[1].addDependency(behind[0]) }
        #expect(
            error?.dependencyCycle == [
                "before 1", "behind 0", "barrier 0", "before 0", "behind 1", "barrier 1", "before 1",
            ])
        for queue in queues { queue.isSuspended = false }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("Dependencies on operations behind a barrier of another queue, or before the own barrier, are accepted")
    func whatIsNoCycle() async throws {
        let (first, second) = (
            TaskOperationQueue(.init(isSuspended: true)), TaskOperationQueue(.init(isSuspended: true))
        )
        let before = first.addOperation {}
        first.addBarrier {}
        let behind = first.addOperation(dependencies: [before]) {}
        let elsewhere = second.addOperation(dependencies: [behind]) {}
        second.addBarrier(dependencies: [behind]) {}
        first.addOperation(dependencies: [elsewhere]) {}
        first.isSuspended = false
        second.isSuspended = false
        try await first.waitUntilAllOperationsAreFinished()
        try await second.waitUntilAllOperationsAreFinished()
    }

    @Test("Once a barrier has ended or is cancelled, it closes no cycle any more")
    func endedBarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(name: "before") {}
        let barrier = queue.addBarrier(name: "barrier") {}
        let behind = queue.addOperation(name: "behind") {}
        barrier.cancel()
        try before.addDependency(behind)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation that a body awaits cannot be added behind a barrier that waits for the body")
    func addingWhatABodyAwaits() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let awaited = TaskOperation(name: "awaited") { 1 }
        let body = queue.addOperation(name: "body") { try await awaited.value }
        await until { body.debugDescription.contains("awaits \"awaited\"") }
        let barrier = queue.addBarrier(name: "barrier") { body.isFinished }
        let error = refusal { try queue.addOperation(awaited) }
        #expect(error?.dependencyCycle == ["awaited", "barrier", "body", "awaited"])
        try TaskOperationQueue().addOperation(awaited)
        #expect(try await body.value == 1)
        #expect(try await barrier.value)
    }
}
