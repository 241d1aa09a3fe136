import Dispatch
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("A worker that moves to another queue", .inTurns, .endsInTime)
struct HandOverTests {
    @Test("A chain that alternates between two queues stays in one task", arguments: [1, 4])
    func chain(width: Int) async throws {
        let executor = PatientExecutor()
        let queues = (0..<2).map { _ in
            TaskOperationQueue(.init(maxConcurrentOperationCount: width, executor: executor))
        }
        let (bodies, done) = (Recorder<Int>(), Gate())
        let first = TaskOperation {}
        var last: AnyTaskOperation = first
        for number in 0..<10_000 {
            let queue = queues[number % 2]
            last = queue.addOperation(dependencies: [last]) {
                if TaskOperationQueue.current === queue { bodies.record(number) }
                if number == 9_999 { done.open() }
            }
        }
        try queues[1].addOperation(first)
        await done.pass()
        #expect(bodies.events == Array(0..<10_000))
        #expect(executor.jobs.count == 1, "the number of tasks")
    }

    @Test("The permit of a shared limit does not create a task")
    func limit() async throws {
        let (executor, semaphore, gate) = (PatientExecutor(), AsyncSemaphore(capacity: 1), Gate())
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(executor: executor)) }
        let holding = queues[0].addOperation(.limit(semaphore)) { await gate.pass() }
        await gate.waitForArrivals(1)
        let done = Gate()
        let waiting = queues[1].addOperation(.limit(semaphore)) { done.open() }
        let count = executor.jobs.count
        gate.open()
        await done.pass()
        // The first body continues without a job if the gate opened before the body was suspended.
        #expect((count...count + 1).contains(executor.jobs.count), "the task of the first body runs the second one")
        try await waiting.value
        #expect(holding.isFinished)
    }

    @Test("Operations run on the executor of their queue")
    func place() async throws {
        let executors = (0..<2).map { _ in SingleThreadExecutor() }
        let queues = executors.map { TaskOperationQueue(.init(executor: $0)) } + [TaskOperationQueue()]
        let (wrong, first) = (Recorder<String>(), TaskOperation {})
        var last: AnyTaskOperation = first
        for number in 0..<100 {
            let place = number % 3
            last = queues[place].addOperation(dependencies: [last]) {
                let current = executors.map(\.isCurrent)
                if current != [place == 0, place == 1] { wrong.record("\(number) runs on \(current)") }
            }
        }
        try queues[0].addOperation(first)
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(wrong.events == [])
    }

    @Test("Operations run in tasks of their priority")
    func priority() async throws {
        let executor = PatientExecutor()
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(executor: executor)) }
        let (wrong, done) = (Recorder<String>(), Gate())
        // Each operation is at least as urgent as the operations that depend on it, so none inherits a priority.
        let priorities: [TaskPriority] = [.high, .medium, .low]
        let first = TaskOperation(.priority(.high)) {}
        var last: AnyTaskOperation = first
        for number in 0..<30 {
            let priority = priorities[number / 10]
            last = queues[number % 2].addOperation(dependencies: [last], .priority(priority)) {
                if Task.currentPriority != priority { wrong.record("\(number) has \(Task.currentPriority)") }
                if number == 29 { done.open() }
            }
        }
        try queues[1].addOperation(first)
        await done.pass()
        #expect(wrong.events == [])
        #expect(executor.jobs.count == 3, "a task for each priority")
    }

    @Test("Neither queue executes more operations than its width", arguments: [1, 4])
    func width(_ width: Int) async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: width) }
        let meters = (0..<2).map { _ in ConcurrencyMeter() }
        for chain in 0..<20 {
            var last: [AnyTaskOperation] = []
            for number in 0..<50 {
                let place = (chain + number) % 2
                last = [
                    queues[place].addOperation(dependencies: last) {
                        await meters[place].measure { if number % 3 == 0 { await Task.yield() } }
                    }
                ]
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        for meter in meters {
            #expect(meter.most <= width)
            #expect(meter.total == 500)
        }
    }

    @Test("The former queue of a worker starts its other operations at once")
    func formerQueue() async throws {
        let gate = Gate()
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let first = TaskOperation {}
        let moved = queues[1].addOperation(dependencies: [first]) { await gate.pass() }
        try queues[0].addOperations([first, TaskOperation {}])
        await gate.waitForArrivals(1)
        await until { queues[0].operationCount == 0 }
        #expect(try await queues[0].addOperation { 1 }.value == 1)
        gate.open()
        try await moved.value
    }

    @Test("Rule 10: The former queue of a worker is deallocated while the worker runs in another one")
    func deallocatedWhileTheWorkerRuns() async throws {
        let gate = Gate()
        let second = TaskOperationQueue()
        weak var scheduler: Scheduler?
        do {
            let queue = TaskOperationQueue()
            scheduler = queue.scheduler
            let first = TaskOperation {}
            second.addOperation(dependencies: [first]) { await gate.pass() }
            try queue.addOperation(first)
        }
        await gate.waitForArrivals(1)
        await until { scheduler == nil }
        gate.open()
        try await second.waitUntilAllOperationsAreFinished()
    }

    @Test("Rule 10: Both queues of a chain finish it after their release, and are deallocated")
    func releasedQueues() async throws {
        let gate = Gate()
        weak var scheduler: Scheduler?
        weak var otherScheduler: Scheduler?
        let last = {
            let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
            (scheduler, otherScheduler) = (queues[0].scheduler, queues[1].scheduler)
            var last = queues[0].addOperation { await gate.pass() }
            for number in 1..<1_000 { last = queues[number % 2].addOperation(dependencies: [last]) {} }
            return last
        }()
        await gate.waitForArrivals(1)
        gate.open()
        await until { last.isFinished }
        #expect(last.failure == nil)
        await until { scheduler == nil && otherScheduler == nil }
    }

    @Test("Cancellation at any moment concerns one operation of a chain and no other", .schedules(300))
    func cancellation() async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        var operations: [TaskOperation<Bool>] = []
        for number in 0..<20 {
            let operation = queues[number % 2].addOperation(dependencies: Array(operations.suffix(1))) {
                if number % 2 == 0 { await Task.yield() }
                return Task.isCancelled
            }
            operations.append(operation)
        }
        let cancelled = [2, 3, 7, 8, 12, 13, 18]
        await withTaskGroup { [operations] group in
            for number in cancelled {
                group.addTask {
                    for _ in 0..<number * 2 { await Task.yield() }
                    operations[number].cancel()
                }
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        for (number, operation) in operations.enumerated() where !cancelled.contains(number) {
            #expect(try await operation.value == false, "\(number)")
        }
    }

    @Test("A chain of 100,000 operations across two queues needs no recursion", arguments: [nil, InlineExecutor()])
    func longChain(executor: InlineExecutor?) async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor)) }
        let first = TaskOperation {}
        var last: AnyTaskOperation = first
        for number in 0..<100_000 { last = queues[number % 2].addOperation(dependencies: [last]) {} }
        try queues[1].addOperation(first)
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(last.failure == nil)
    }

    @Test("An observer of the first queue does not delay the operation of the other one")
    func observer() async throws {
        let executor = BlockingExecutor(maxThreadCount: 2)
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(executor: executor)) }
        let observer = WaitingObserver()
        queues[0].addObserver(observer)
        let first = TaskOperation(name: "first") {}
        queues[1].addOperation(dependencies: [first]) { observer.isAwaited.signal() }
        try queues[0].addOperation(first)
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        await until { !observer.results.events.isEmpty }
        #expect(observer.results.events == [.success])
    }

    @Test("The task of a moved worker has the task locals and interceptors of each queue only in its bodies")
    func surroundings() async throws {
        let executor = PatientExecutor()
        let plain = TaskOperationQueue(.init(executor: executor))
        let other = TaskOperationQueue(.init(executor: executor, taskLocals: [InheritedTaskLocal($request)]))
        let intercepted = Recorder<String>()
        other.addBodyInterceptor { operation, body in
            intercepted.record(operation.name!)
            try await body()
        }
        let (requests, done) = (Recorder<String>(), Gate())
        let first = TaskOperation {}
        var last: AnyTaskOperation = first
        for number in 0..<6 {
            last = $request.withValue("\(number)") {
                (number % 2 == 0 ? other : plain).addOperation(name: "\(number)", dependencies: [last]) {
                    requests.record(request)
                    if number == 5 { done.open() }
                }
            }
        }
        try plain.addOperation(first)
        await done.pass()
        #expect(requests.events == ["0", "none", "2", "none", "4", "none"])
        #expect(intercepted.events == ["0", "2", "4"])
        #expect(executor.jobs.count == 1)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("The task of a moved worker keeps the name of its first queue")
    func name() async throws {
        let executor = PatientExecutor()
        let queues = ["first", "second"].map { TaskOperationQueue(.init(name: $0, executor: executor)) }
        let (names, first) = (Recorder<String?>(), TaskOperation {})
        queues[1].addOperation(dependencies: [first]) { names.record(Task.name) }
        try queues[0].addOperation(first)
        try await queues[1].waitUntilAllOperationsAreFinished()
        #expect(names.events == ["first"])
    }

    @Test("A worker of a scope does not leave the scope, and no other worker runs its operations")
    func scope() async throws {
        let (outer, gate) = (TaskOperationQueue(), Gate())
        let hasReturned = Recorder<Bool>()
        outer.addOperation {
            if await !eventually({ !hasReturned.events.isEmpty }) { hasReturned.record(false) }
            gate.open()
        }
        let first = TaskOperation {}
        let inside = try await $request.withValue("caller") {
            try await withTaskOperationQueue { scope in
                let operation = scope.addOperation(dependencies: [first]) { request }
                // The end of `operation` has no other effect, because the scope is not empty.
                scope.addOperation { await until { operation.isFinished } }
                outer.addOperation(dependencies: [operation]) { await gate.pass() }
                try outer.addOperation(first)
                return operation
            }
        }
        hasReturned.record(true)
        #expect(try await inside.value == "caller")
        try await outer.waitUntilAllOperationsAreFinished()
        #expect(hasReturned.events == [true])
    }
}

@TaskLocal private var request = "none"

/// An executor whose workers never yield, and that counts its jobs.
private final class PatientExecutor: SliceDecidingExecutor {
    let jobs = JobCounter()

    func enqueue(_ job: consuming ExecutorJob) { jobs.enqueue(job) }

    func isSliceOver() -> Bool { false }
}

/// An observer that waits in each end of an operation until another operation has run.
private final class WaitingObserver: TaskOperationObserver {
    let isAwaited = DispatchSemaphore(value: 0)
    let results = Recorder<DispatchTimeoutResult>()

    func operationChanged(_ event: TaskOperationEvent) {
        if case .finished = event.kind { results.record(isAwaited.wait(timeout: .now() + 1200)) }
    }
}
