import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Bad input: failures at run time are typed errors", .inTurns, .endsInTime)
struct BadInputTests {
    @Test("A cycle, a self-dependency, a double add and a late dependency are thrown, typed, where they happen")
    func typedErrors() async throws {
        let queue = TaskOperationQueue()
        let first = TaskOperation(name: "first") {}
        let second = TaskOperation(name: "second", dependencies: [first]) {}
        do throws(TaskOperationError) {
            try first.addDependency(second)
            Issue.record("the cycle was let in")
        } catch {
            #expect(error.dependencyCycle == ["first", "second", "first"])
        }
        #expect(refusal { try first.addDependency(first) }?.dependencyCycle == ["first", "first"])
        try queue.addOperations([first, second])
        #expect(refusal { try queue.addOperation(first) }?.alreadyAdded == "first")
        try await second.value
        #expect(refusal { try second.addDependency(TaskOperation {}) }?.alreadyStarted == "second")
    }

    @Test("An operation that is added after the shutdown fails with a typed error, and so does run")
    func afterTheShutdown() async throws {
        let queue = TaskOperationQueue(name: "closed")
        queue.shutDown()
        let operation = queue.addOperation(name: "late") {}
        #expect(operation.refusal?.queueShutDown == "late")
        let error = await #expect(throws: TaskOperationError.self) { try await queue.run(name: "later") {} }
        #expect(error?.queueShutDown == "later")
    }

    @Test("After a refusal everything works on as before")
    func nothingChanges() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let runs = Recorder<String>()
        let first = queue.addOperation { runs.record("first") }
        let second = queue.addOperation(dependencies: [first]) { runs.record("second") }
        for _ in 0..<10 {
            refusal { try first.addDependency(second) }
            refusal { try queue.addOperation(second) }
            refusal { try queue.addOperations([TaskOperation { runs.record("never") }, first]) }
            refusal { try queue.addBarrier(first) }
            refusal { try second.start() }
        }
        #expect(queue.operations == [first, second])
        #expect((first.dependencies, second.dependencies) == ([], [first]))
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.events == ["first", "second"])
    }
}

@Suite("Bad input: a value that is never allowed stops with a message", .inTurns, .prompt, .endsInTime)
struct BadValueTests {
    @Test("A negative width, where a queue is made")
    func negativeWidth() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TaskOperationQueue(maxConcurrentOperationCount: -3)
        }
        #expect(result.errorText.contains("maxConcurrentOperationCount is -3; it must not be negative"))
        #expect(result.errorText.contains(".max"))
    }

    @Test("A negative width, where it is changed")
    func negativeWidthLater() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().maxConcurrentOperationCount = -1
        }
        #expect(result.errorText.contains("maxConcurrentOperationCount is -1; it must not be negative"))
    }

    @Test("A negative width of a scope")
    func negativeWidthOfAScope() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await withTaskOperationQueue(maxConcurrentOperationCount: -2) { _ in }
        }
        #expect(result.errorText.contains("maxConcurrentOperationCount is -2; it must not be negative"))
    }

    @Test("A negative capacity, where a semaphore is made and where it is changed")
    func negativeCapacity() async {
        let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AsyncSemaphore(capacity: -4, name: "disk")
        }
        #expect(made.errorText.contains("The capacity of semaphore \"disk\" is -4; it must not be negative. With 0, "))
        let changed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            AsyncSemaphore(capacity: 1).capacity = -5
        }
        #expect(changed.errorText.contains("The capacity of a semaphore is -5; it must not be negative"))
    }

    @Test("A weight of zero or less, in each call that takes one")
    func weightThatIsNotPositive() async {
        let acquired = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await AsyncSemaphore(capacity: 1).acquire(weight: 0)
        }
        #expect(acquired.errorText.contains("weight is 0; it must be at least 1"))
        let tried = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AsyncSemaphore(capacity: 1).tryAcquire(weight: -1)
        }
        #expect(tried.errorText.contains("weight is -1; it must be at least 1"))
        let held = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await AsyncSemaphore(capacity: 1).withPermit(weight: -2) {}
        }
        #expect(held.errorText.contains("weight is -2; it must be at least 1"))
        let released = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            AsyncSemaphore(capacity: 1).release(weight: 0)
        }
        #expect(released.errorText.contains("weight is 0; it must be at least 1"))
    }

    @Test("Giving back more permits than are taken")
    func releasingTooMuch() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let semaphore = AsyncSemaphore(capacity: 3, name: "disk")
            try await semaphore.acquire(weight: 1)
            semaphore.release(weight: 2)
        }
        #expect(result.errorText.contains("semaphore \"disk\" was to take back 2 of 1 taken permits"))
    }
}
