import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Waits that could never end", .inTurns, .endsInTime)
struct WaitCycleTests {
    @Test("A body that awaits itself is refused, in each way of waiting, and continues")
    func awaitingItself() async throws {
        let operation = TaskOperationQueue().addOperation(name: "self") {
            let error = await #expect(throws: TaskOperationError.self) {
                try await AnyTaskOperation.current!.waitUntilFinished()
            }
            return error?.waitCycle
        }
        #expect(try await operation.value == ["self", "self"])
    }

    @Test("A body that asks for its own result gets the refusal as that result")
    func askingForItsOwnResult() async throws {
        let known = Recorder<TaskOperation<Int>>()
        let operation = TaskOperation(name: "self") {
            guard case .failure(let error) = await known.events[0].result else { return 0 }
            #expect((error as? TaskOperationError)?.waitCycle == ["self", "self"])
            return 1
        }
        known.record(operation)
        try TaskOperationQueue().addOperation(operation)
        #expect(try await operation.value == 1)
    }

    @Test("A child task is refused as the body is; an unstructured task is not, as the body may end without it")
    func childTasks() async throws {
        let operation = TaskOperationQueue().addOperation(name: "self") {
            let current = AnyTaskOperation.current!
            async let structured = refusedWait(for: current)
            return (await structured, Task { await refusedWait(for: current) })
        }
        let (structured, unstructured) = try await operation.value
        #expect(structured == ["self", "self"])
        #expect(await unstructured.value == nil)
    }

    @Test("Two bodies on two queues that await each other: the one that closes the circle is refused")
    func eachOther() async throws {
        let bodies = waitingInARing(3)
        for body in bodies { try TaskOperationQueue(maxConcurrentOperationCount: 1).addOperation(body) }
        for body in bodies { _ = await body.result }
        let refusals = bodies.compactMap { $0.refusal?.waitCycle }
        // The body whose wait was refused fails with that error, and the bodies that await it fail with the same error.
        #expect(refusals.count == 3)
        #expect(Set(refusals).count == 1)
        #expect(refusals[0].count == 4)
        #expect(refusals[0].first == refusals[0].last)
    }

    @Test("A body that awaits an operation behind a barrier that waits for the body is refused")
    func throughABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let (barrier, behind) = (TaskOperation(name: "barrier") {}, TaskOperation(name: "behind") {})
        let body = queue.addOperation(name: "body") {
            await gate.pass()
            return await [refusedWait(for: barrier), refusedWait(for: behind)]
        }
        try queue.addBarrier(barrier)
        try queue.addOperation(behind)
        gate.open()
        #expect(try await body.value == [["body", "barrier", "body"], ["body", "behind", "barrier", "body"]])
        try await behind.value
    }

    @Test("A body behind whose back a barrier was added cannot run something in its queue and wait for it")
    func runningBehindABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let body = queue.addOperation(name: "body") {
            await gate.pass()
            try await queue.run(name: "inner") {}
        }
        await gate.waitForArrivals(1)
        queue.addBarrier(name: "barrier") {}
        gate.open()
        _ = await body.result
        #expect(body.refusal?.waitCycle == ["body", "inner", "barrier", "body"])
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Waiting for all in one's own queue is refused", .prompt)
    func waitingForTheOwnQueue() async throws {
        // Runs in a separate process: if the wait were not refused, nothing could end the body.
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let own = queue.addOperation(name: "own") { try await queue.waitUntilAllOperationsAreFinished() }
            let ended = await eventually { own.isFinished }
            try #require(ended)
            try #require(own.refusal?.waitCycle == ["own", "own"])
        }
    }

    @Test("Waiting for all in a queue is refused in a body that an operation of that queue awaits")
    func waitingForTheQueueOfAWaiter() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let outer = queue.addOperation(name: "outer") {
            let outer = AnyTaskOperation.current!
            try await TaskOperationQueue().run(name: "inner") {
                await until { outer.debugDescription.contains("awaits \"inner\"") }
                try await queue.waitUntilAllOperationsAreFinished()
            }
        }
        _ = await outer.result
        #expect(outer.refusal?.waitCycle == ["inner", "outer", "inner"])
    }

    @Test("Waiting for all in a queue where something depends on the body is refused")
    func waitingForAQueueThatDependsOnTheBody() async throws {
        let other = TaskOperationQueue()
        let gate = Gate()
        let body = TaskOperationQueue().addOperation(name: "body") {
            await gate.pass()
            try await other.waitUntilAllOperationsAreFinished()
        }
        let dependent = other.addOperation(name: "dependent", dependencies: [body]) { 1 }
        gate.open()
        _ = await body.result
        #expect(body.refusal?.waitCycle == ["body", "dependent", "body"])
        #expect(try await dependent.value == 1)
    }

    @Test("An operation that depends on a body is refused in a queue whose end the body awaits")
    func addingWhatDependsOnAWaiter() async throws {
        let other = TaskOperationQueue(.init(isSuspended: true))
        other.addOperation {}
        let body = TaskOperationQueue().addOperation(name: "body") {
            try await other.waitUntilAllOperationsAreFinished()
        }
        await until { body.debugDescription.contains("awaits") }
        let dependent = TaskOperation(name: "dependent", dependencies: [body]) { 1 }
        let wasAdded = (try? other.addOperation(dependent)) != nil
        other.isSuspended = false
        let ended = await eventually { body.isFinished }
        #expect(ended, "added: \(wasAdded)")
        dependent.cancel()
        _ = await body.result
    }

    @Test("A body that awaits a scope cannot be awaited from within that scope")
    func withinAScope() async throws {
        let body = TaskOperationQueue().addOperation(name: "body") {
            let outer = AnyTaskOperation.current!
            let inner = try await withTaskOperationQueue { queue in
                queue.addOperation(name: "inner") { await refusedWait(for: outer) }
            }
            return try await inner.value
        }
        #expect(try await body.value == ["inner", "body", "inner"])
    }

    @Test("An operation in a scope cannot depend on the body around the scope")
    func dependencyWithinAScope() async throws {
        let body = TaskOperationQueue().addOperation(name: "body") {
            let outer = AnyTaskOperation.current!
            return try await withTaskOperationQueue(failures: .ignore) { queue in
                queue.addOperation(name: "inner", dependencies: [outer]) {}
            }
        }
        #expect(try await body.value.refusal?.dependencyCycle == ["inner", "body", "inner"])
    }

    @Test("A wait that is over closes no cycle, though the body still executes")
    func waitThatIsOver() async throws {
        let (queue, other) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
        let (awaited, rest) = (Gate(), Gate())
        other.addOperation { await awaited.pass() }
        await awaited.waitForArrivals(1)
        let awaiting = queue.addOperation {
            try await other.waitUntilAllOperationsAreFinished()
            await rest.pass()
        }
        await until { awaiting.isExecuting }
        awaited.open()
        await rest.waitForArrivals(1)
        let late = TaskOperation(dependencies: [awaiting]) {}
        try other.addOperation(late)
        rest.open()
        try await late.value
    }

    @Test("A body whose wait was refused can continue and await another operation")
    func goingOn() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let body = queue.addOperation {
            _ = await refusedWait(for: AnyTaskOperation.current!)
            return try await queue.run { 1 }
        }
        #expect(try await body.value == 1)
    }

    @Test("Bodies that close circles at the same time are never all let in", arguments: 1...30)
    func closingAtTheSameTime(_: Int) async throws {
        let bodies = waitingInARing(4)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        try queue.addOperations(bodies)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(bodies.contains { $0.refusal?.waitCycle?.count == 5 })
    }

    /// Returns operations whose bodies each await the next one. The last one awaits the first, once all of them have
    /// started.
    private func waitingInARing(_ count: Int) -> [TaskOperation<Void>] {
        let gate = Gate()
        let known = Recorder<TaskOperation<Void>>()
        let bodies = (0..<count).map { number in
            TaskOperation(name: "\(number)") {
                if number == 0 {
                    await gate.waitForArrivals(count - 1)
                    gate.open()
                } else {
                    await gate.pass()
                }
                try await known.events[(number + 1) % count].value
            }
        }
        for body in bodies { known.record(body) }
        return bodies
    }

    @Test("An operation of a scope that begins before its place is known cannot await the body that opened the scope")
    func awaitingTheBodyOfItsScope() async throws {
        let (gate, refusals) = (Gate(), Recorder<[String?]?>())
        // With this executor, the body begins within the call that adds the operation.
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: InlineExecutor()))
        let other = TaskOperationQueue().addOperation { await gate.pass() }
        let body = queue.addOperation(name: "body") {
            // After this wait, the body has a lower rank than its permit, and the scope's operations have lower ranks
            // than the body.
            try await other.value
            try await withTaskOperationQueue { scope in
                let body = AnyTaskOperation.current!
                _ = scope.addOperation(name: "member") { refusals.record(await refusedWait(for: body)) }
            }
        }
        await gate.waitForArrivals(1)
        gate.open()
        #expect(await eventually { body.isFinished })
        #expect(refusals.events == [["member", "body", "member"]])
    }
}

/// Waits for an operation. Returns the cycle because of which the wait is refused; nil if it is not refused.
private func refusedWait(for operation: AnyTaskOperation) async -> [String?]? {
    do {
        try await operation.waitUntilFinished()
        return nil
    } catch {
        return (error as? TaskOperationError)?.waitCycle
    }
}
