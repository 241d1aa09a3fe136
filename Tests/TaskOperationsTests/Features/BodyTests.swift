import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Bodies: several of them, and types", .inTurns, .endsInTime)
struct BodyTests {
    @Test("Several bodies run at the same time, and count once in the width", .schedules(20))
    func severalBodies() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let gate = Gate()
        let operation = TaskOperation { await gate.pass() }
        for _ in 0..<4 { try operation.addBody { await gate.pass() } }
        try queue.addOperation(operation)
        try operation.addBody { await gate.pass() }
        queue.isSuspended = false
        await gate.waitForArrivals(6)
        let next = queue.addOperation { operation.isFinished }
        await untilOthersWait()
        #expect(next.isReady && operation.isExecuting)
        gate.open()
        #expect(try await next.value)
    }

    @Test("The operation is finished when the last of its bodies is", .schedules(20))
    func lastBodyEnds() async throws {
        let gate = Gate()
        let operation = TaskOperation {}
        try operation.addBody { await gate.pass() }
        try operation.addBody {}
        try operation.start()
        await gate.waitForArrivals(1)
        await untilOthersWait()
        #expect(operation.isExecuting)
        gate.open()
        try await operation.value
    }

    @Test("The first error of several bodies is the outcome, after the others are cancelled")
    func oneOfSeveralFails() async throws {
        let (started, cancelled, released) = (Gate(), Gate(), Gate())
        let operation = TaskOperation {
            await withTaskCancellationHandler {
                await started.pass()
                await released.pass()
            } onCancel: {
                cancelled.open()
            }
        }
        started.open()
        try operation.addBody {
            await started.waitForArrivals(1)
            throw WorkFailed(number: 2)
        }
        try operation.start()
        let isCancelled = await eventually { cancelled.isOpen }
        #expect(isCancelled)
        released.open()
        _ = await operation.result
        #expect(operation.failure as? WorkFailed == WorkFailed(number: 2))
    }

    @Test("Each attempt runs all bodies")
    func retriedBodies() async throws {
        let runs = Recorder<Int>()
        let operation = TaskOperation(.retry(.immediately(attempts: 2))) { runs.record(0) }
        try operation.addBody {
            runs.record(1)
            throw WorkFailed(number: 1)
        }
        try operation.start()
        _ = await operation.result
        #expect(operation.failure as? WorkFailed == WorkFailed(number: 1))
        #expect(runs.events.sorted() == [0, 0, 1, 1])
    }

    @Test("A second body that policies would not cover is refused; the policies cover bodies that are added after it")
    func bodiesAndPolicies() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let (single, several) = (
            TaskOperation(name: "single", .retry(.immediately(attempts: 1))) {},
            TaskOperation(.retry(.immediately(attempts: 2))) {}
        )
        try several.addBody {}
        try queue.addOperations([single, several])
        #expect(refusal { try single.addBody {} }?.alreadyAdded == "single")
        let runs = Recorder<Int>()
        try several.addBody {
            runs.record(runs.events.count)
            if runs.events.count == 1 { throw WorkFailed(number: 1) }
        }
        queue.isSuspended = false
        try await several.value
        try await single.value
        #expect(runs.events == [0, 1])
    }

    @Test("Cancelling reaches all of several bodies")
    func cancellingSeveralBodies() async throws {
        let gate = Gate()
        let cancelled = Recorder<Int>()
        let operation = TaskOperation {
            await gate.pass()
            if Task.isCancelled { cancelled.record(0) }
        }
        for number in 1..<4 {
            try operation.addBody {
                await gate.pass()
                if Task.isCancelled { cancelled.record(number) }
            }
        }
        try operation.start()
        await gate.waitForArrivals(4)
        operation.cancel()
        gate.open()
        try await operation.value
        #expect(cancelled.events.sorted() == [0, 1, 2, 3])
    }

    @Test("A hundred thousand bodies of one operation run, and are freed where they do not, without recursion")
    func manyBodies() async throws {
        let runs = ConcurrencyMeter()
        let freed = Gate()
        let operations = (0..<2).map { _ in TaskOperation { runs.enter() } }
        do {
            let witness = Witness(freed)
            for operation in operations {
                for _ in 1..<100_000 { try operation.addBody { withExtendedLifetime(witness) { runs.enter() } } }
            }
        }
        try operations[0].start()
        try await operations[0].value
        #expect(runs.total == 100_000)
        operations[1].cancel()
        // The worker may retain the bodies that it has run for a moment.
        await until { freed.isOpen }
    }

    @Test("A body can be added from many threads, and each runs once")
    func addingFromManyThreads() async throws {
        let runs = Recorder<Int>()
        let operation = TaskOperation { runs.record(-1) }
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { #expect(throws: Never.self) { try operation.addBody { runs.record(number) } } }
            }
        }
        try operation.start()
        try await operation.value
        #expect(runs.events.sorted() == Array(-1..<100))
    }

    @Test("A body can be a type, with or without a value, that is added or made first")
    func bodyTypes() async throws {
        let queue = TaskOperationQueue()
        let doubling = queue.addOperation(Doubling(number: 21), name: "double", .priority(.high))
        #expect(try await doubling.value == 42)
        #expect((doubling.name, doubling.priority) == ("double", .high))
        let dependent = TaskOperation(Doubling(number: 4), dependencies: [doubling])
        #expect(dependent.dependencies == [doubling])
        try queue.addOperation(dependent)
        #expect(try await dependent.value == 8)
        let failing = queue.addOperation(Failing(number: 5))
        await #expect(throws: WorkFailed(number: 5)) { try await failing.value }
    }

    @Test("A body that is a type is told of cancellation")
    func bodyTypeIsCancelled() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation(Asking(gate: gate))
        await gate.waitForArrivals(1)
        operation.cancel()
        gate.open()
        #expect(try await operation.value)
    }
}

private struct Doubling: TaskOperationBody {
    let number: Int
    func main() async throws -> Int { number * 2 }
}

private struct Failing: TaskOperationBody {
    let number: Int
    func main() async throws { throw WorkFailed(number: number) }
}

private struct Asking: TaskOperationBody {
    let gate: Gate
    func main() async -> Bool {
        await gate.pass()
        return Task.isCancelled
    }
}
