import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Scopes: withTaskOperationQueue", .inTurns, .endsInTime)
struct ScopeTests {
    @Test("A scope returns the value and throws the error of its body")
    func resultOfTheBody() async throws {
        #expect(try await withTaskOperationQueue { _ in 5 } == 5)
        await #expect(throws: WorkFailed(number: 2)) {
            try await withTaskOperationQueue { _ in throw WorkFailed(number: 2) }
        }
    }

    @Test("cancelRest: the first failure cancels the rest and leaves the scope", .schedules(20))
    func cancelRest() async throws {
        let (last, done) = (Recorder<AnyTaskOperation>(), Recorder<Int>())
        await #expect(throws: WorkFailed(number: 2)) {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                queue.addOperation { throw WorkFailed(number: 2) }
                let sleeping = queue.addOperation { try await ManualClock().sleep(for: .seconds(1)) }
                let behind = queue.addOperation(dependencies: [sleeping]) { done.record(1) }
                last.record(behind)
                // This wait may throw an error of its own. The scope throws the failure in either case.
                try await behind.value
            }
        }
        #expect(last.events[0].isCancelled)
        #expect(done.events.isEmpty)
    }

    @Test("cancelRest: dependents of the failed operation do not run", .schedules(50))
    func cancelRestDependents() async throws {
        let ran = Recorder<Int>()
        await #expect(throws: WorkFailed(number: 1)) {
            try await withTaskOperationQueue { queue in
                let failing = queue.addOperation { throw WorkFailed(number: 1) }
                queue.addOperation(dependencies: [failing]) { ran.record(1) }
            }
        }
        #expect(ran.events.isEmpty)
    }

    @Test("An error of the body takes precedence over failures, unless it is a cancellation", .schedules(20))
    func ownError() async throws {
        await #expect(throws: WorkFailed(number: 3)) {
            try await withTaskOperationQueue { queue in
                let failing = queue.addOperation { throw WorkFailed(number: 1) }
                do { try await failing.value } catch { throw WorkFailed(number: 3) }
            }
        }
    }

    @Test("collect: all operations run, and their failures are thrown together", .schedules(20))
    func collect() async throws {
        let ran = Recorder<Int>()
        let error = await #expect(throws: OperationFailures.self) {
            try await withTaskOperationQueue(failures: .collect) { queue in
                for number in 0..<4 {
                    queue.addOperation(name: "\(number)") {
                        ran.record(number)
                        if number % 2 == 1 { throw WorkFailed(number: number) }
                    }
                }
                queue.addOperation { ran.record(9) }.cancel()
            }
        }
        #expect(Set(ran.events).isSuperset(of: 0..<4))
        #expect(Set(error?.failures.map(\.operation.name) ?? []) == ["1", "3"])
    }

    @Test("A scope and a group throw the error of an operation that was refused when it was added")
    func refused() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue()
        let scope = queue.addOperation(name: "scope", .limit(limit)) {
            try await withTaskOperationQueue { $0.addOperation(name: "inner", .limit(limit)) {} }
        }
        await #expect(throws: TaskOperationError.self) { try await scope.value }
        #expect((scope.failure as? TaskOperationError)?.dependencyCycle == ["inner", "scope", "inner"])
        let group = queue.addGroup(name: "group", .limit(limit)) { group in
            group.addOperation(name: "member", .limit(limit)) {}
        }
        await #expect(throws: TaskOperationError.self) { try await group.value }
        #expect((group.failure as? TaskOperationError)?.dependencyCycle == ["member", "group", "member"])
    }

    @Test("ignore: failures stay in their operations", .schedules(20))
    func ignore() async throws {
        let failed = try await withTaskOperationQueue(failures: .ignore) { queue in
            let failing = queue.addOperation { throw WorkFailed(number: 1) }
            queue.addOperation(.timeout(untilStart: .zero)) {}
            return failing
        }
        #expect(failed.failure as? WorkFailed == WorkFailed(number: 1))
    }

    @Test("An operation that was refused or ended before its start is a failure", .schedules(20))
    func unstartedFailure() async throws {
        await #expect(throws: TaskOperationError.self) {
            try await withTaskOperationQueue { queue in
                queue.shutDown()
                queue.addOperation {}
            }
        }
        let clock = ManualClock()
        await #expect(throws: TaskOperationError.self) {
            try await withTaskOperationQueue(.init(isSuspended: true)) { queue in
                let late = queue.addOperation([.timeout(untilStart: .seconds(1)), .clock(clock)]) {}
                clock.advance(by: .seconds(1))
                try? await late.waitUntilFinished()
            }
        }
    }

    @Test("Name, width, executor and task locals are those that were given")
    func parameters() async throws {
        let executor = SingleThreadExecutor()
        let operation = try await $request.withValue("carried") {
            try await withTaskOperationQueue(
                .init(
                    name: "scope", maxConcurrentOperationCount: 3, executor: executor,
                    taskLocals: [InheritedTaskLocal($request)])
            ) { queue in
                #expect((queue.name, queue.maxConcurrentOperationCount) == ("scope", 3))
                return queue.addOperation { [request, "\(executor.isCurrent)"] }
            }
        }
        #expect(try await operation.value == ["carried", "true"])
    }

    @Test("Bodies have the task locals of the task that opened the scope, regardless of the adding task")
    func taskLocals() async throws {
        let values = try await $request.withValue("scope") {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                let first = queue.addOperation { request }
                let second = $request.withValue("adding") { queue.addOperation { request } }
                let third = await Task.detached { queue.addOperation { request } }.value
                let fourth = queue.addOperation {
                    try await $request.withValue("body") {
                        try await withTaskOperationQueue { inner in
                            try await [inner.addOperation { request }.value, queue.addOperation { request }.value]
                        }
                    }
                }
                return try await [first.value, second.value, third.value] + fourth.value
            }
        }
        #expect(values == ["scope", "scope", "scope", "body", "scope"])
    }

    @Test("Escalating the task that opened the scope raises the tasks of bodies that execute")
    func escalation() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (isExecuting, mayEnd) = (Gate(), Gate())
        let task = Task(priority: .background) {
            try await withTaskOperationQueue { queue in
                try await queue.addOperation(priority: .background) {
                    isExecuting.open()
                    await mayEnd.pass()
                    return Task.currentPriority
                }.value
            }
        }
        await isExecuting.pass()
        task.escalatePriority(to: .high)
        mayEnd.open()
        #expect(try await task.value >= .high)
    }

    @Test("Cancelling the task that opened the scope cancels the tasks of bodies that execute, and of their children")
    func cancellationOfChildren() async throws {
        let isExecuting = Gate()
        let task = Task {
            try await withTaskOperationQueue { queue in
                queue.addOperation {
                    async let child: Void = {
                        isExecuting.open()
                        while !Task.isCancelled { await Task.yield() }
                    }()
                    await child
                    return Task.isCancelled
                }
            }
        }
        await isExecuting.pass()
        task.cancel()
        #expect(try await task.value.value)
    }

    @Test("A scope whose operations are all added by others, while its own body only awaits, runs them")
    func onlyOthersAdd() async throws {
        let done = Gate()
        try await withTaskOperationQueue(maxConcurrentOperationCount: 3) { queue in
            Task.detached {
                for number in 0..<100 {
                    queue.addOperation(priority: number.isMultiple(of: 2) ? .high : .low) {
                        if number == 99 { queue.addOperation { done.open() } }
                    }
                }
            }
            await done.pass()
        }
        #expect(done.isOpen)
    }

    @Test("Tens of thousands of operations in a scope", arguments: [1, 64])
    func veryMany(width: Int) async throws {
        let count = isDeep ? 100_000 : 20_000
        let meter = ConcurrencyMeter()
        try await withTaskOperationQueue(maxConcurrentOperationCount: width) { queue in
            for _ in 0..<count { queue.addOperation { meter.enter() } }
        }
        #expect(meter.total == count)
    }

    @Test("The body can await operations of the open scope")
    func awaitingWithin() async throws {
        let sum = try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
            let first = queue.addOperation { 1 }
            let second = queue.addOperation(after: first) { @concurrent in $0 + 1 }
            let sum = try await first.value + second.value
            try await queue.waitUntilAllOperationsAreFinished()
            queue.addOperation {}
            return sum
        }
        #expect(sum == 3)
    }

    @Test("Scopes may be nested, also in the bodies of their operations")
    func nested() async throws {
        let meter = ConcurrencyMeter()
        try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { outer in
            for _ in 0..<5 {
                outer.addOperation {
                    try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { inner in
                        for _ in 0..<5 {
                            inner.addOperation {
                                outer.addOperation { meter.enter() }
                                meter.enter()
                            }
                        }
                    }
                }
            }
        }
        #expect(meter.total == 50)
    }

    @Test("A scope in a cancelled task cancels the operations that are added")
    func enteringCancelled() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await withTaskOperationQueue { queue in
                [queue.addOperation {}, queue.addBarrier {}] as [AnyTaskOperation]
            }
        }
        #expect(try await task.value.allSatisfy { $0.failure is CancellationError })
    }

    @Test("Cancelling an operation whose body is a scope cancels the operations of the scope")
    func cancellingAnOperationAround() async throws {
        let gate = Gate()
        let outer = TaskOperationQueue().addOperation {
            try await withTaskOperationQueue { queue in
                queue.addOperation {
                    await gate.pass()
                    return Task.isCancelled
                }
            }
        }
        await gate.waitForArrivals(1)
        outer.cancel()
        gate.open()
        #expect(try await outer.value.value)
    }

    @Test("After an error, operations that others add while they end are cancelled")
    func addingAfterAnError() async throws {
        let (gate, added) = (Gate(), Recorder<TaskOperation<Void>>())
        let runs = Recorder<Bool>()
        try? await withTaskOperationQueue { queue in
            queue.addOperation {
                await gate.pass()
                await until { Task.isCancelled }
                added.record(queue.addOperation { runs.record(true) })
            }
            await gate.waitForArrivals(1)
            gate.open()
            throw WorkFailed()
        }
        #expect(added.events.count == 1)
        #expect(added.events.allSatisfy { $0.failure is CancellationError })
        #expect(runs.events == [])
    }

    @Test("A body that ignores cancellation is waited for all the same", .schedules(20))
    func ignoringCancellation() async throws {
        let (started, released) = (Gate(), Gate())
        let ended = Recorder<Bool>()
        let task = Task {
            try await withTaskOperationQueue { queue in
                queue.addOperation {
                    started.open()
                    await released.pass()
                    ended.record(true)
                }
                await started.pass()
                throw WorkFailed()
            }
        }
        await released.waitForArrivals(1)
        await untilOthersWait()
        released.open()
        await #expect(throws: WorkFailed.self) { try await task.value }
        #expect(ended.events == [true])
    }

    @Test("An operation that suspends its queue while the scope is being left does not hang it", .schedules(20))
    func suspendedWhileLeaving() async throws {
        let (gate, left) = (Gate(), Recorder<Bool>())
        let scope = Recorder<TaskOperationQueue>()
        let task = Task {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                scope.record(queue)
                queue.addOperation {
                    await gate.pass()
                    queue.isSuspended = true
                }
                queue.addOperation {}
            }
            left.record(true)
        }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        gate.open()
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events[0].isSuspended = false
        try await task.value
    }

    @Test("A scope that is being left cannot be held up, also after a shutdown", .schedules(20))
    func shutDownWhileItIsLeft() async throws {
        let (gate, scope, left) = (Gate(), Recorder<TaskOperationQueue>(), Recorder<Bool>())
        let task = Task {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                scope.record(queue)
                queue.addOperation { await gate.pass() }
                queue.addOperation {}
            }
            left.record(true)
        }
        await gate.waitForArrivals(1)
        await until { scope.events[0].operationCount == 2 }
        await untilOthersWait()
        scope.events[0].shutDown()
        scope.events[0].isSuspended = true
        scope.events[0].maxConcurrentOperationCount = 0
        gate.open()
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events[0].isSuspended = false
        scope.events[0].maxConcurrentOperationCount = 1
        try await task.value
    }

    @Test("A scope is released if its only worker was requested and not started", .schedules(50))
    func releaseWithoutStart() async {
        for priority in [TaskPriority.high, .low] {
            weak var scheduler: Scheduler?
            await #expect(throws: WorkFailed.self) {
                try await withTaskOperationQueue { queue in
                    scheduler = queue.scheduler
                    queue.addOperation(priority: priority) {}
                    throw WorkFailed()
                }
            }
            #expect(scheduler == nil)
        }
    }

    @Test("A scope of width 0 does not hang when it is left")
    func widthZero() async throws {
        let (left, scope) = (Recorder<Bool>(), Recorder<TaskOperationQueue>())
        let task = Task {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 0) { queue in
                scope.record(queue)
                queue.addOperation {}
            }
            left.record(true)
        }
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events.first?.maxConcurrentOperationCount = 1
        try await task.value
    }
}

@TaskLocal private var request = "none"
