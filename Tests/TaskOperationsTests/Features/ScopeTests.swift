import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Scopes: withTaskOperationQueue", .inTurns, .timeLimit(.minutes(10)))
struct ScopeTests {
    @Test("What the body returns or throws comes out, typed")
    func resultOfTheBody() async {
        let value = await withTaskOperationQueue { queue in
            queue.addOperation { throw WorkFailed() }
            return 5
        }
        #expect(value == 5)
        do {
            try await withTaskOperationQueue { _ async throws(WorkFailed) in throw WorkFailed(number: 2) }
            Issue.record("nothing was thrown")
        } catch {
            let typed: WorkFailed = error
            #expect(typed == WorkFailed(number: 2))
        }
    }

    @Test("what README.md shows: the first error that is asked for leaves the scope, and cancels the rest")
    func readme() async throws {
        let (urls, stored) = (["a", "b", "c"], Recorder<String>())
        @Sendable func fetch(_ url: String) async throws -> String {
            if url == "b" { throw WorkFailed(number: 2) }
            if url == "c" { try await ManualClock().sleep(for: .seconds(1)) }
            return url
        }
        func store(_ page: String) { stored.record(page) }
        await #expect(throws: WorkFailed(number: 2)) {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 8) { queue in
                let pages = urls.map { url in queue.addOperation { try await fetch(url) } }
                for page in pages { store(try await page.value) }
            }
        }
        #expect(stored.events == ["a"])
    }

    @Test("Name, width, executor and task locals are those that were given")
    func parameters() async throws {
        let executor = SingleThreadExecutor()
        let operation = await $request.withValue("carried") {
            await withTaskOperationQueue(
                name: "scope", maxConcurrentOperationCount: 3, executor: executor,
                inheriting: [InheritedTaskLocal($request)]
            ) { queue in
                #expect((queue.name, queue.maxConcurrentOperationCount) == ("scope", 3))
                return queue.addOperation { [request, "\(executor.isCurrent)"] }
            }
        }
        #expect(try await operation.value == ["carried", "true"])
    }

    @Test("Bodies see the task locals of the task that opened the scope, whoever added them and from wherever")
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
            await withTaskOperationQueue { queue in
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
        await withTaskOperationQueue(maxConcurrentOperationCount: 3) { queue in
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
    func veryMany(width: Int) async {
        let count = isDeep ? 100_000 : 20_000
        let meter = ConcurrencyMeter()
        await withTaskOperationQueue(maxConcurrentOperationCount: width) { queue in
            for _ in 0..<count { queue.addOperation { meter.enter() } }
        }
        #expect(meter.total == count)
    }

    @Test("The body can await operations of the scope while it goes on")
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
    func nested() async {
        let meter = ConcurrencyMeter()
        await withTaskOperationQueue(maxConcurrentOperationCount: 1) { outer in
            for _ in 0..<5 {
                outer.addOperation {
                    await withTaskOperationQueue(maxConcurrentOperationCount: 1) { inner in
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

    @Test("Entering in a task that is cancelled already cancels what is added")
    func enteringCancelled() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await withTaskOperationQueue { queue in
                [queue.addOperation {}, queue.addBarrier {}] as [AnyTaskOperation]
            }
        }
        #expect(await task.value.allSatisfy { $0.failure is CancellationError })
    }

    @Test("Cancelling an operation whose body is a scope cancels what is in the scope")
    func cancellingAnOperationAround() async throws {
        let gate = Gate()
        let outer = TaskOperationQueue().addOperation {
            await withTaskOperationQueue { queue in
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

    @Test("After an error, what operations add while they end is cancelled")
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

    @Test("A body that ignores cancellation is waited for all the same")
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
        await letOthersRun()
        released.open()
        await #expect(throws: WorkFailed.self) { try await task.value }
        #expect(ended.events == [true])
    }

    @Test("An operation that suspends its queue while the scope is being left does not hang it")
    func suspendedWhileLeaving() async throws {
        let (gate, left) = (Gate(), Recorder<Bool>())
        let scope = Recorder<TaskOperationQueue>()
        let task = Task {
            await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
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
        await letOthersRun()
        gate.open()
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events[0].isSuspended = false
        await task.value
    }

    @Test("A scope that is being left cannot be held up, also after a shutdown")
    func shutDownWhileItIsLeft() async throws {
        let (gate, scope, left) = (Gate(), Recorder<TaskOperationQueue>(), Recorder<Bool>())
        let task = Task {
            await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                scope.record(queue)
                queue.addOperation { await gate.pass() }
                queue.addOperation {}
            }
            left.record(true)
        }
        await gate.waitForArrivals(1)
        await letOthersRun()
        scope.events[0].shutDown()
        scope.events[0].isSuspended = true
        scope.events[0].maxConcurrentOperationCount = 0
        gate.open()
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events[0].isSuspended = false
        scope.events[0].maxConcurrentOperationCount = 1
        await task.value
    }

    @Test("A scope of width 0 does not hang when it is left")
    func widthZero() async throws {
        let (left, scope) = (Recorder<Bool>(), Recorder<TaskOperationQueue>())
        let task = Task {
            await withTaskOperationQueue(maxConcurrentOperationCount: 0) { queue in
                scope.record(queue)
                queue.addOperation {}
            }
            left.record(true)
        }
        let isLeft = await eventually { !left.events.isEmpty }
        #expect(isLeft)
        scope.events.first?.maxConcurrentOperationCount = 1
        await task.value
    }
}

@TaskLocal private var request = "none"
