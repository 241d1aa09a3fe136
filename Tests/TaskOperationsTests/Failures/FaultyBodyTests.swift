import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Faulty bodies: no wait hangs, and no operation is lost", .inTurns, .endsInTime)
struct FaultyBodyTests {
    @Test("Bodies that throw")
    func throwing() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let failed = (0..<100).map { number in queue.addOperation { throw WorkFailed(number: number) } }
        let good = queue.addOperation(dependencies: failed) { 1 }
        #expect(try await good.value == 1)
        #expect(failed.map { ($0.failure as? WorkFailed)?.number } == Array(0..<100))
        #expect(queue.operationCount == 0)
    }

    @Test("A body that throws CancellationError without being cancelled has failed and is not cancelled")
    func throwingCancellation() async throws {
        let operation = TaskOperationQueue().addOperation { throw CancellationError() }
        _ = await operation.result
        #expect(operation.failure is CancellationError)
        #expect(!operation.isCancelled)
    }

    @Test("A body that ignores cancellation runs to its end, and its dependents start after it", .schedules(20))
    func ignoringCancellation() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let stubborn = queue.addOperation {
            for _ in 0..<100 { await Task.yield() }
            await gate.pass()
            return 1
        }
        await gate.waitForArrivals(1)
        stubborn.cancel()
        let next = queue.addOperation { stubborn.isFinished }
        await untilOthersWait()
        #expect(stubborn.isExecuting && stubborn.isCancelled && next.isReady)
        gate.open()
        #expect(try await stubborn.value == 1)
        #expect(try await next.value)
    }

    @Test("Bodies that add operations to their own queue, singly, in batches and as barriers")
    func addingToTheOwnQueue() async throws {
        for width in [1, 3] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
            let runs = ConcurrencyMeter()
            for _ in 0..<50 {
                queue.addOperation {
                    queue.addOperation { runs.enter() }
                    try queue.addOperations((0..<3).map { _ in TaskOperation { runs.enter() } })
                    queue.addBarrier { runs.enter() }
                    queue.addOperation(dependencies: [AnyTaskOperation.current!]) { runs.enter() }
                }
            }
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(runs.total == 300)
        }
    }

    @Test("A body that cancels its own queue: it is told, the others that have not started end, later ones run")
    func cancellingTheOwnQueue() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let cancelling = queue.addOperation {
            queue.cancelAllOperations()
            return (Task.isCancelled, queue.addOperation { !Task.isCancelled })
        }
        let others = (0..<50).map { _ in queue.addOperation {} }
        queue.isSuspended = false
        let (isTold, later) = try await cancelling.value
        #expect(isTold)
        #expect(others.allSatisfy { $0.failure is CancellationError })
        #expect(try await later.value)
        #expect(queue.operationCount == 0)
    }

    @Test("A body that cancels itself and continues")
    func cancellingItself() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation {
            AnyTaskOperation.current!.cancel()
            AnyTaskOperation.current!.cancel()
            return Task.isCancelled
        }
        #expect(try await operation.value)
        #expect(try await queue.run { Task.isCancelled } == false)
    }

    @Test("A body that drops the last reference to its queue, while others wait there")
    func droppingTheLastReference() async throws {
        let holder = QueueHolder(TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true)))
        let dropping = holder.queue!.addOperation { holder.drop() }
        let others = (0..<50).map { number in holder.queue!.addOperation { number } }
        let barrier = holder.queue!.addBarrier { TaskOperationQueue.current?.operationCount }
        holder.queue!.isSuspended = false
        try await dropping.value
        for (number, operation) in others.enumerated() { #expect(try await operation.value == number) }
        #expect(try await barrier.value == 1)
    }

    @Test("A body that drops the last reference to its queue after it suspended that queue")
    func suspendingAndDropping() async throws {
        let holder = QueueHolder(TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true)))
        let dropping = holder.queue!.addOperation {
            holder.queue?.isSuspended = true
            holder.drop()
        }
        let other = holder.queue!.addOperation { 1 }
        holder.queue!.isSuspended = false
        try await dropping.value
        #expect(try await other.value == 1)
    }

    @Test("A body that suspends a released queue")
    func suspendingAReleasedQueue() async throws {
        let gate = Gate()
        let (first, second) = {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let first = queue.addOperation {
                await gate.pass()
                TaskOperationQueue.current?.isSuspended = true
            }
            return (first, queue.addOperation { 1 })
        }()
        gate.open()
        try await first.value
        #expect(try await second.value == 1)
    }

    @Test("A body that shuts its own queue down, and adds to it")
    func shuttingDownTheOwnQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let closing = queue.addOperation {
            await gate.pass()
            queue.shutDown()
            return queue.addOperation(name: "late") {}
        }
        let before = queue.addOperation { 1 }
        gate.open()
        #expect(try await closing.value.refusal?.queueShutDown == "late")
        #expect(try await before.value == 1)
    }

    @Test("A body that changes the width, the priority and the suspension of its own queue again and again")
    func changingTheOwnQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let runs = ConcurrencyMeter()
        for number in 0..<300 {
            queue.addOperation {
                queue.maxConcurrentOperationCount = number % 4 + 1
                queue.isSuspended = true
                for operation in queue.operations.suffix(5) { operation.priority = number % 2 == 0 ? .low : .high }
                queue.isSuspended = false
                await runs.measure { await Task.yield() }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == 300)
    }

    @Test("A body that leaves tasks behind which use its operation and its queue after the end")
    func leavingTasksBehind() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let operation = queue.addOperation {
            let current = AnyTaskOperation.current
            return Task {
                await gate.pass()
                current?.cancel()
                current?.priority = .high
                return (current?.isFinished, try await queue.run { 1 })
            }
        }
        let task = try await operation.value
        gate.open()
        #expect(try await task.value == (true, 1))
        #expect(!operation.isCancelled)
    }
}
