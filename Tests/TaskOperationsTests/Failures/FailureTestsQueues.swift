import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Faults of other libraries: queues and barriers", .inTurns, .endsInTime)
struct FailureTestsQueues {
    @Test("Elsewhere a barrier on an empty suspended queue ran at once, and waiting for all ignored it", .schedules(20))
    func barrierOnAnEmptySuspendedQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let barrier = queue.addBarrier {}
        let returned = Recorder<Bool>()
        async let waiting: Void = {
            try await queue.waitUntilAllOperationsAreFinished()
            returned.record(barrier.isFinished)
        }()
        await untilOthersWait()
        #expect(barrier.isReady)
        #expect(returned.events == [])
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        try await waiting
        #expect(returned.events == [true])
    }

    @Test("Elsewhere adding was quadratic with 20,000 waiting")
    func addingToAFullQueue() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let priorities: [TaskPriority] = [.medium, .low, .high]
        for number in 0..<40_000 { queue.addOperation(priority: priorities[number % 3]) {} }
        #expect(queue.operationCount == 40_000)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Elsewhere the order of submission was lost, because each call was a task")
    func orderOfSubmission() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let starts = Recorder<Int>()
        for number in 0..<5000 { queue.addOperation { starts.record(number) } }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array(0..<5000))
    }

    @Test("Elsewhere bodies that do not suspend starved everything else in the pool")
    func sharingThePool() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 100)
        // Each body adds the next one until the other task has run. If it does not run, the bodies stop at `end`.
        let (hasRun, end) = (Gate(), ContinuousClock.now + .seconds(1200))
        @Sendable func addNext() {
            if !hasRun.isOpen, ContinuousClock.now < end { queue.addOperation { addNext() } }
        }
        for _ in 0..<200 { addNext() }
        await Task.detached { hasRun.open() }.value
        #expect(ContinuousClock.now < end)
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Elsewhere a stall by priority inversion: only the dependency being awaited was raised, the rest starved")
    func allDependenciesAreRaised() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<String>()
        for number in 0..<20 { queue.addOperation { starts.record("other \(number)") } }
        let deeper = (0..<5).map { number in
            queue.addOperation(priority: .low) { starts.record("deeper \(number)") }
        }
        let dependencies = deeper.enumerated().map { number, deeper in
            queue.addOperation(priority: .low, dependencies: [deeper]) { starts.record("direct \(number)") }
        }
        let awaited = queue.addOperation(priority: .low, dependencies: dependencies) { starts.record("awaited") }
        // When the wait has begun, the queue knows of the higher priorities.
        let task = Task.immediate(priority: .high) { try await awaited.value }
        #expect((deeper + dependencies).allSatisfy { $0.effectivePriority == .high })
        queue.isSuspended = false
        try await task.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events.count == 31)
        #expect(starts.events.prefix(11).allSatisfy { !$0.hasPrefix("other") })
    }
}
