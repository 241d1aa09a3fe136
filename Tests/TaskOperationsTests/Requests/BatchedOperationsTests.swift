import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("Batches", .endsInTime)
struct BatchedOperationsTests {
    private typealias Doubling = BatchedOperations<Int, Int>

    /// Batches that double their inputs. Odd inputs fail.
    private static func doubling(
        on queue: TaskOperationQueue, maxCount: Int = 100, collecting pause: Duration = .zero,
        _ batches: Recorder<[Int]> = Recorder(), body: @escaping @Sendable () async -> Void = {}
    ) -> Doubling {
        Doubling(queue: queue, maxCount: maxCount, collecting: pause) { inputs in
            batches.record(inputs)
            await body()
            return inputs.map { $0 % 2 == 0 ? .success($0 * 2) : .failure(WorkFailed(number: $0)) }
        }
    }

    private static func waitFor(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test("A batch whose only caller has left before its start is cancelled and has no inputs")
    func empty() throws {
        let batch = Batch(1)
        #expect(batch.leave(0))
        #expect(throws: CancellationError.self) { _ = try batch.begin() }
    }

    @Test("Each caller receives its own result or error", .schedules(300))
    func results() async throws {
        let batches = Recorder<[Int]>()
        let doubling = Self.doubling(on: TaskOperationQueue(), maxCount: 2, batches)
        await withTaskGroup { group in
            for input in 0..<5 {
                group.addTask {
                    do {
                        let value = try await doubling.value(for: input)
                        #expect(value == 2 * input && input % 2 == 0)
                    } catch {
                        #expect((error as? WorkFailed)?.number == input && input % 2 == 1)
                    }
                }
            }
        }
        #expect(batches.events.flatMap { $0 }.sorted() == Array(0..<5))
        #expect(batches.events.allSatisfy { (1...2).contains($0.count) })
    }

    @Test("A batch collects inputs for the pause after its first input", .schedules(50))
    func pause() async throws {
        let batches = Recorder<[Int]>()
        let doubling = Self.doubling(on: TaskOperationQueue(), collecting: .milliseconds(10), batches)
        let start = ContinuousClock.now
        await withTaskGroup { group in
            for input in [0, 2, 4, 6] {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(4 * input / 2))
                    let value = try? await doubling.value(for: input)
                    #expect(value == 2 * input)
                }
            }
        }
        #expect(batches.events == [[0, 2, 4], [6]])
        #expect(ContinuousClock.now - start == .milliseconds(22))
    }

    @Test("A full batch starts before the pause is over, and so does a flushed one", .schedules(50))
    func full() async throws {
        let batches = Recorder<[Int]>()
        let doubling = Self.doubling(on: TaskOperationQueue(), maxCount: 2, collecting: .seconds(3600), batches)
        let start = ContinuousClock.now
        async let first = doubling.value(for: 0)
        async let second = doubling.value(for: 2)
        _ = try await (first, second)
        let third = Task { try await doubling.value(for: 4) }
        while third.isRunning(in: batches, count: 3) {
            doubling.flush()
            await Task.yield()
        }
        #expect(try await third.value == 8)
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test("Batches grow while the queue is busy", .schedules(50))
    func busyQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gate, batches) = (Gate(), Recorder<[Int]>())
        let doubling = Self.doubling(on: queue, batches)
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let calls = (0..<4).map { number in
            Task(name: "call \(number)") { try await doubling.value(for: 2 * number) }
        }
        // The sleep is virtual: it ends when all calls wait.
        try await Task.sleep(for: .milliseconds(1))
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(batches.events.map(\.count) == [4])
    }

    @Test("A cancelled caller leaves a batch that has not started", .schedules(200))
    func leaving() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let batches = Recorder<[Int]>()
        let doubling = Self.doubling(on: queue, batches)
        let calls = [0, 2, 4].map { input in Task { try await doubling.value(for: input) } }
        try await Task.sleep(for: .milliseconds(1))
        calls[1].cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        queue.isSuspended = false
        #expect(try await calls[0].value == 0)
        #expect(try await calls[2].value == 8)
        #expect(batches.events.map { $0.sorted() } == [[0, 4]])
    }

    @Test("A cancelled caller of a batch that has started continues at once, and the others get their results")
    func leavingStarted() async throws {
        let (gate, queue) = (Gate(), TaskOperationQueue())
        let doubling = Self.doubling(on: queue, maxCount: 2, collecting: .seconds(3600)) { await gate.pass() }
        let calls = [0, 2].map { input in Task { try await doubling.value(for: input) } }
        await gate.waitForArrivals(1)
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        gate.open()
        #expect(try await calls[1].value == 4)
    }

    @Test("A batch without callers is cancelled, before its start or later", .schedules(200))
    func abandoned() async throws {
        let (queue, ends) = (TaskOperationQueue(), Recorder<Bool>())
        for pause in [Duration.zero, .seconds(3600)] {
            let doubling = Self.doubling(on: queue, collecting: pause) {
                try? await Task.sleep(for: .seconds(100))
                ends.record(Task.isCancelled)
            }
            let calls = [0, 2].map { input in Task { try await doubling.value(for: input) } }
            await Task.yield()
            for call in calls { call.cancel() }
            for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(ends.events.allSatisfy { $0 })
            #expect(try await Self.doubling(on: queue).value(for: 2) == 4)
        }
    }

    @Test("All callers of a batch that throws receive its error")
    func failure() async throws {
        let batches = BatchedOperations<Int, Int>(queue: TaskOperationQueue(), maxCount: 2) { _ in throw WorkFailed() }
        let calls = [1, 2].map { input in Task { try await batches.value(for: input) } }
        for call in calls { await #expect(throws: WorkFailed.self) { try await call.value } }
    }

    @Test("A wrong number of results is an error", arguments: [0, 2])
    func wrongCount(count: Int) async throws {
        let batches = BatchedOperations<Int, Int>(queue: TaskOperationQueue(), maxCount: 9) { _ in
            Array(repeating: .success(1), count: count)
        }
        let error = await #expect(throws: BatchError.self) { try await batches.value(for: 1) }
        #expect(error == .wrongResultCount(count, inputCount: 1))
    }

    @Test("A retry receives the same inputs", .schedules(50))
    func retry() async throws {
        let attempts = Recorder<[Int]>()
        let batches = BatchedOperations<Int, Int>(
            queue: TaskOperationQueue(), maxCount: 2, collecting: .seconds(1),
            options: .retry(.immediately(attempts: 2))
        ) { inputs in
            attempts.record(inputs)
            if attempts.events.count == 1 { throw WorkFailed() }
            return inputs.map { .success($0) }
        }
        async let first = batches.value(for: 1)
        async let second = batches.value(for: 2)
        #expect(try await first + second == 3)
        #expect(attempts.events.count == 2 && attempts.events[0] == attempts.events[1])
    }

    @Test("A body that awaits a batch of its own queue lends its permit", .schedules(100))
    func ownQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let doubling = Self.doubling(on: queue)
        #expect(try await queue.addOperation { try await doubling.value(for: 2) }.value == 4)
    }

    @Test("A batch that awaits itself is refused")
    func cycle() async throws {
        let batches = BatchedOperations<Int, Int>(queue: TaskOperationQueue(), maxCount: 5) { inputs in
            try await AnyTaskOperation.current!.waitUntilFinished()
            return inputs.map { .success($0) }
        }
        await #expect(throws: TaskOperationError.self) { try await batches.value(for: 1) }
    }

    @Test("Calls end if the queue is shut down or cancels all", .schedules(100))
    func shutDown() async throws {
        let queue = TaskOperationQueue()
        let doubling = Self.doubling(on: queue, collecting: .seconds(3600))
        let call = Task { try await doubling.value(for: 2) }
        try await Task.sleep(for: .milliseconds(1))
        queue.cancelAllOperations()
        await #expect(throws: CancellationError.self) { try await call.value }
        queue.shutDown()
        let error = await #expect(throws: TaskOperationError.self) { try await doubling.value(for: 2) }
        if case .queueShutDown? = error { return }
        Issue.record("\(String(describing: error))")
    }

    @Test("Inputs, values and batches are freed, also those of callers that left")
    func freed() async throws {
        let gates = (0..<4).map { _ in Gate() }
        let queue = TaskOperationQueue(.init(isSuspended: true))
        do {
            let batches = BatchedOperations<Witness, Witness>(
                queue: queue, maxCount: 9, collecting: .seconds(Int64.max)
            ) { inputs in
                inputs.map { _ in .success(Witness(gates[2])) }
            }
            let left = Task { _ = try await batches.value(for: Witness(gates[0])) }
            await until { queue.operationCount == 1 }
            left.cancel()
            _ = await left.result
            await gates[0].pass()
            queue.isSuspended = false
            let call = Task { _ = try await batches.value(for: Witness(gates[1])) }
            await until { queue.operationCount == 1 }
            batches.flush()
            try await call.value
            await gates[1].pass()
            await gates[2].pass()
            withExtendedLifetime(batches) {}
        }
    }

    @Test("The release of an input may call the batches")
    func releaseOfInput() async throws {
        final class Input: Sendable {
            let batches: Recorder<BatchedOperations<Input, Int>>
            init(_ batches: Recorder<BatchedOperations<Input, Int>>) { self.batches = batches }
            deinit { for batches in batches.events { batches.flush() } }
        }
        let (queue, holder) = (TaskOperationQueue(.init(isSuspended: true)), Recorder<BatchedOperations<Input, Int>>())
        let batches = BatchedOperations<Input, Int>(queue: queue, maxCount: 9, collecting: .seconds(1)) { inputs in
            inputs.map { _ in .success(1) }
        }
        holder.record(batches)
        let calls = (0..<3).map { _ in Task { try await batches.value(for: Input(holder)) } }
        await until { queue.operationCount == 1 }
        calls[0].cancel()
        _ = await calls[0].result
        queue.isSuspended = false
        #expect(try await calls[1].value == 1)
    }

    @Test("Limits of the number and the time", .schedules(20))
    func limits() async throws {
        for (count, pause) in [(1, Duration.seconds(Int64.max)), (Int.max, .zero), (Int.max, .seconds(-1))] {
            let doubling = Self.doubling(on: TaskOperationQueue(), maxCount: count, collecting: pause)
            #expect(try await doubling.value(for: 2) == 4)
        }
    }

    @Test("Random callers that are cancelled at any time all end", .schedules(200, .uniform))
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        var generator = Schedules.generator()
        let doubling = Self.doubling(
            on: queue, maxCount: 2, collecting: .milliseconds(generator.number(below: 2))
        ) { await Task.yield() }
        let calls = (0..<5).map { number in Task { try await doubling.value(for: 2 * number) } }
        for call in calls where generator.happens(percent: 50) {
            call.cancel()
            await Task.yield()
        }
        for (number, call) in calls.enumerated() {
            do {
                #expect(try await call.value == 4 * number)
            } catch {
                #expect(error is CancellationError && call.isCancelled)
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("No batch is too large if many threads add inputs", .inTurns)
    func threads() async throws {
        let batches = Recorder<[Int]>()
        let doubling = Self.doubling(on: TaskOperationQueue(), maxCount: 2, collecting: .milliseconds(1), batches)
        try await withThrowingTaskGroup { group in
            for task in 0..<16 {
                group.addTask {
                    for number in 0..<50 {
                        let input = 2 * (50 * task + number)
                        let value = try await doubling.value(for: input)
                        #expect(value == 2 * input)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(batches.events.allSatisfy { $0.count <= 2 })
        #expect(Set(batches.events.flatMap { $0 }).count == 800)
    }

    @Test("Callers that come and go take linear time", .computing)
    func many() throws {
        func cost(_ count: Int) throws -> Duration {
            try processorTimeOnOneThread { executor in
                let queue = TaskOperationQueue(.init(isSuspended: true, executor: executor))
                let doubling = Self.doubling(on: queue)
                let stays = Task(executorPreference: executor) { try await doubling.value(for: 2) }
                await Self.waitFor { queue.operationCount == 1 }
                for _ in 0..<count {
                    let call = Task(executorPreference: executor) { try await doubling.value(for: 1) }
                    await Task.yield()
                    call.cancel()
                    _ = await call.result
                }
                queue.isSuspended = false
                let value = try await stays.value
                #expect(value == 4)
            }
        }
        let ratio = try bestRatio(within: 16) { try cost($0 ? 8000 : 1000) }
        #expect(ratio < 16, "Eight times the callers took \(ratio) times the time.")
    }
}

extension Task {
    /// Whether the batches contain fewer inputs than a number.
    fileprivate func isRunning(in batches: Recorder<[Int]>, count: Int) -> Bool {
        batches.events.reduce(0) { $0 + $1.count } < count
    }
}
