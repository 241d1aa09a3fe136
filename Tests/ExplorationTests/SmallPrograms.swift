import Exploration
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras

/// Counters of bodies and handlers. Only one thread of a schedule runs at a time.
final class Tally: @unchecked Sendable {
    // Only the thread that has the turn accesses this property.
    private(set) var counts: [String: Int] = [:]
    private(set) var order: [String] = []
    private(set) var now = 0
    private(set) var most = 0

    func count(_ name: String) {
        counts[name, default: 0] += 1
        order.append(name)
    }

    subscript(name: String) -> Int { counts[name, default: 0] }

    /// A body begins.
    func enter() {
        now += 1
        most = max(most, now)
    }

    func leave() { now -= 1 }
}

extension Schedule {
    /// Expects that operations have ended.
    func expectEnd(of operations: AnyTaskOperation...) {
        for operation in operations {
            expect(operation.isFinished, "\(operation.debugDescription) has not ended")
        }
    }

    func expectEmpty(_ queues: TaskOperationQueue...) {
        for queue in queues { expect(queue.operationCount == 0, "\(queue) has \(queue.operationCount) operations") }
    }

    /// Expects that each body ran at most once.
    func expectOnce(_ tally: Tally) {
        for (name, count) in tally.counts { expect(count <= 1, "\(name) happened \(count) times") }
    }
}

/// Programs of few threads and steps. The tests run all of their schedules with few interruptions.
enum SmallPrograms {
    static let all = [
        addAndCancel, addLimited, addTwo, addTwice, refusedAdd, removedEdge, raised, suspended, released, lent, awaited,
        givenUp,
        awaitedTwice, observed, limited, passedPermits, callback, scope, capacity, shutDown, key, lazyValue, group,
        semaphore, thread,
        threads, timeout, crossing, awaitedBarrier, keptLimit, startedDependent, progress,
        refusedAndCancelled, seenEnd, givenUpPlace, joinedKey, cancelledKey, delivered, roomOrCancelled,
        shutDownDependent, refusedUnseen, lentInTurn, awaitedEnd, addedBeforeEnd, escalatedWait, movedWorker,
        movedWorkerOfReleased, lateDependency, recordedEnds,
    ]

    /// An operation is recorded as started after the ends of its dependencies, also if the last one ends in another queue
    /// within the step that ends the other one, or before the operation is added.
    static let recordedEnds = ExploredProgram("ends in two recorded queues") { schedule in
        let queues = (0..<2).map { _ in TaskOperationQueue() }
        let recorder = FlightRecorder(of: queues, capacity: FlightRecorder.minimumCapacity)
        let dependencies = queues.map { $0.addOperation {} }
        let last = queues[0].addOperation(name: "last", dependencies: dependencies) {}
        schedule.runToEnd()
        schedule.expectEnd(of: last)
        let trace = recorder.trace()
        recorder.stop()
        let recorded = trace.operations.first { $0.name == "last" }
        for end in (recorded?.dependencies ?? []).map({ trace.operations[$0].end }) {
            schedule.expect(end <= recorded!.start, "a dependency ended \(end - recorded!.start) s after the start")
        }
    }

    static let addAndCancel = ExploredProgram("add / cancel") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { tally.count("a") }
        operation.addCompletionHandler { _ in tally.count("handler") }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("canceller") { operation.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expectOnce(tally)
        schedule.expect(tally["handler"] == 1, "the handler was called \(tally["handler"]) times")
        schedule.expect(tally["a"] == 0 || operation.failure == nil, "the body ran, and \(operation) was cancelled")
        schedule.expectEmpty(queue)
    }

    /// An operation with limits is cancelled before, during or after its addition.
    static let addLimited = ExploredProgram("add with a limit / cancel") { schedule in
        let (queue, semaphore) = (TaskOperationQueue(maxConcurrentOperationCount: 1), AsyncSemaphore(capacity: 1))
        let operation = TaskOperation(name: "a") {}
        try? operation.addOptions(.limit(semaphore))
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("canceller") { operation.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(semaphore.available == 1, "\(semaphore.available) permits are left")
        schedule.expectEmpty(queue)
    }

    static let addTwo = ExploredProgram("add / add / end") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operations = (0..<3).map { number in
            TaskOperation(name: "\(number)") {
                tally.enter()
                tally.count("\(number)")
                tally.leave()
            }
        }
        try? queue.addOperation(operations[0])
        schedule.thread("first") { try? queue.addOperation(operations[1]) }
        schedule.thread("second") { try? queue.addOperation(operations[2]) }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expect(tally.counts.values.allSatisfy { $0 == 1 } && tally.most == 1, "\(tally.counts), \(tally.most)")
        schedule.expectEmpty(queue)
    }

    /// Two threads add the same operation. One queue refuses it because a barrier of that queue waits for it. The other
    /// addition may fail because the first one still has the operation.
    static let addTwice = ExploredProgram("refused add / add to another queue") { schedule in
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue())
        let operation = TaskOperation(name: "a") {}
        let barrier = queue.addBarrier(dependencies: [operation]) {}
        let refusals = Holder<[TaskOperationError]>([])
        for queue in [queue, other] {
            schedule.thread("adder") {
                do throws(TaskOperationError) {
                    try queue.addOperation(operation)
                } catch {
                    refusals.value!.append(error)
                }
            }
        }
        schedule.runToEnd()
        schedule.expect(!refusals.value!.isEmpty, "both queues accepted the operation")
        if refusals.value!.count == 2 {
            do { try other.addOperation(operation) } catch {
                schedule.fail("a refusal has changed something: \(error)")
            }
            schedule.runToEnd()
        }
        schedule.expectEnd(of: operation, barrier)
        schedule.expectEmpty(queue, other)
    }

    /// An addition is refused while a dependency of the added operation ends.
    static let refusedAdd = ExploredProgram("refused add / end of its dependency") { schedule in
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let zero = TaskOperation(name: "zero") {}
        let two = TaskOperation(name: "two", dependencies: [zero]) {}
        let three = TaskOperation(name: "three") { _ = try? await two.value }
        try? queue.addOperation(three)
        schedule.runToEnd()
        schedule.thread("adder") {
            try? queue.addOperation(zero)
            queue.addBarrier {}
            do { try queue.addOperation(two) } catch { schedule.note("refused: \(error)") }
            two.cancel()
        }
        schedule.runToEnd()
        schedule.expectEnd(of: zero, two, three)
        schedule.expectEmpty(queue)
    }

    static let removedEdge = ExploredProgram("end / removal of the edge") { schedule in
        let (queue, other) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
        let tally = Tally()
        let first = TaskOperation(name: "first") {}
        let second = TaskOperation(name: "second", dependencies: [first]) { tally.count("second") }
        try? other.addOperation(second)
        schedule.thread("adder") { try? queue.addOperation(first) }
        schedule.thread("remover") { try? second.removeDependency(first) }
        schedule.runToEnd()
        schedule.expectEnd(of: first, second)
        schedule.expect(tally["second"] == 1, "the body ran \(tally["second"]) times")
        schedule.expectEmpty(queue, other)
    }

    static let raised = ExploredProgram("raise / start") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operations = (0..<3).map { number in
            TaskOperation(name: "\(number)", priority: .low) { tally.count("\(number)") }
        }
        for operation in operations.dropLast() { try? queue.addOperation(operation) }
        schedule.thread("raiser") {
            operations[1].priority = .high
            operations[2].priority = .high
        }
        schedule.thread("adder") { try? queue.addOperation(operations[2]) }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expect(tally.counts.count == 3, "\(tally.counts)")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    static let suspended = ExploredProgram("suspend / take the next operation") { schedule in
        let (queue, tally) = (TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true)), Tally())
        let operations = (0..<6).map { number in TaskOperation(name: "\(number)") { tally.count("\(number)") } }
        for operation in operations { try? queue.addOperation(operation) }
        schedule.thread("resumer") { queue.isSuspended = false }
        schedule.thread("suspender") {
            queue.isSuspended = true
            schedule.pause()
            queue.isSuspended = false
        }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expect(tally.counts.count == 6, "\(tally.counts)")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    /// A worker of the first queue ends an operation on which an operation of the second queue depends.
    static let movedWorker = ExploredProgram("end of a dependency elsewhere / cancel / add") { schedule in
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let tallies = (0..<2).map { _ in Tally() }
        func operation(_ name: String, in place: Int, after dependencies: [AnyTaskOperation] = []) -> TaskOperation<
            Void
        > {
            TaskOperation(name: name, dependencies: dependencies) {
                tallies[place].enter()
                tallies[place].count(name)
                await Task.yield()
                schedule.expect(name == "b" || !Task.isCancelled, "\(name) was cancelled")
                tallies[place].leave()
            }
        }
        let a = operation("a", in: 0)
        let (b, other) = (operation("b", in: 1, after: [a]), operation("other", in: 1))
        let c = operation("c", in: 0, after: [b])
        try? queues[1].addOperation(b)
        try? queues[0].addOperation(c)
        schedule.thread("adder") {
            try? queues[0].addOperation(a)
            try? queues[1].addOperation(other)
        }
        schedule.thread("canceller") { b.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: a, b, c, other)
        for tally in tallies {
            schedule.expectOnce(tally)
            schedule.expect(tally.most == 1, "\(tally.most) executed with one permit")
        }
        schedule.expect(tallies[0]["a"] == 1 && tallies[0]["c"] == 1 && tallies[1]["other"] == 1, "a body did not run")
        schedule.expectEmpty(queues[0], queues[1])
    }

    /// The queues of a chain are released while it runs.
    static let movedWorkerOfReleased = ExploredProgram("chain across two queues / release of both") { schedule in
        let tally = Tally()
        let holders = (0..<2).map { _ in Holder(TaskOperationQueue(maxConcurrentOperationCount: 1)) }
        var operations: [TaskOperation<Void>] = []
        for number in 0..<4 {
            operations.append(
                TaskOperation(name: "\(number)", dependencies: operations.suffix(1)) { tally.count("\(number)") })
        }
        for number in 1..<4 { try? holders[number % 2].value!.addOperation(operations[number]) }
        try? holders[0].value!.addOperation(operations[0])
        for holder in holders { schedule.thread("releaser") { holder.value = nil } }
        schedule.runToEnd()
        schedule.expect(tally.order == ["0", "1", "2", "3"], "the bodies ran in the order \(tally.order)")
        for operation in operations { schedule.expectEnd(of: operation) }
    }

    static let released = ExploredProgram("release of the queue / add") { schedule in
        let tally = Tally()
        let holder = Holder(TaskOperationQueue(maxConcurrentOperationCount: 1))
        let operation = TaskOperation(name: "a") { tally.count("a") }
        let last = TaskOperation(name: "b", dependencies: [operation]) { tally.count("b") }
        schedule.thread("adder") {
            guard let queue = holder.value else { return }
            tally.count("added")
            try? queue.addOperation(last)
            try? queue.addOperation(operation)
        }
        schedule.thread("releaser") { holder.value = nil }
        schedule.runToEnd()
        if tally["added"] > 0 { schedule.expectEnd(of: operation, last) }
        schedule.expectOnce(tally)
    }

    static let lent = ExploredProgram("lend / end") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let inner = TaskOperation(name: "inner") { tally.count("inner") }
        let outer = TaskOperation(name: "outer") {
            _ = try? await inner.value
            tally.count("outer")
        }
        let third = TaskOperation(name: "third") { tally.count("third") }
        schedule.thread("first") { try? queue.addOperation(outer) }
        schedule.thread("second") {
            try? queue.addOperation(inner)
            try? queue.addOperation(third)
        }
        schedule.runToEnd()
        schedule.expectEnd(of: inner, outer, third)
        schedule.expect(tally.counts.count == 3, "\(tally.counts)")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    static let awaited = ExploredProgram("wait / cancel / value") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { 7 }
        schedule.thread("waiter") {
            let task = Task {
                let value = try? await operation.value
                tally.count(value.map { "\($0)" } ?? "nil")
            }
            schedule.pause()
            task.cancel()
        }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(tally["7"] + tally["nil"] == 1, "the wait ended \(tally.counts)")
        schedule.expectEmpty(queue)
    }

    /// A task's cancellation ends its wait for an operation that is never added.
    static let givenUp = ExploredProgram("wait / cancel") { schedule in
        let tally = Tally()
        let operation = TaskOperation(name: "a") {}
        schedule.thread("waiter") {
            let task = Task {
                try? await operation.waitUntilFinished()
                tally.count("end of the wait")
            }
            schedule.pause()
            task.cancel()
        }
        schedule.runToEnd()
        schedule.expect(tally["end of the wait"] == 1, "the wait has not ended")
        operation.cancel()
    }

    static let awaitedTwice = ExploredProgram("wait / wait / end") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { 7 }
        for _ in 0..<2 {
            schedule.thread("waiter") { Task { if try await operation.value == 7 { tally.count("7") } } }
        }
        try? queue.addOperation(operation)
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(tally.counts == ["7": 2], "\(tally.counts)")
        schedule.expectEmpty(queue)
    }

    static let observed = ExploredProgram("observe / change") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let observer = EventOrder(tally)
        let operation = TaskOperation(name: "a") {}
        schedule.thread("observer") {
            queue.addObserver(observer)
            _ = QueueCapture.capture([queue.scheduler]).map(\.allReasons)
            queue.removeObserver(observer)
        }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(tally["at once"] == 0, "two threads called the observer at once")
        schedule.expectEmpty(queue)
    }

    static let limited = ExploredProgram("limits of two queues") { schedule in
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let (one, two, tally) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1), Tally())
        let operations = (0..<2).map { number in
            TaskOperation(name: "\(number)") {
                tally.enter()
                await Task.yield()
                tally.leave()
            }
        }
        try? operations[0].addOptions(.limits([one, two]))
        try? operations[1].addOptions(.limits([two, one]))
        for number in 0..<2 { schedule.thread("adder") { try? queues[number].addOperation(operations[number]) } }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expect(tally.most == 1, "\(tally.most) executed with one permit")
        schedule.expect(one.available == 1 && two.available == 1, "permits were not returned")
        schedule.expectEmpty(queues[0], queues[1])
    }

    /// Two claims wait in the line of each limit. A claim needs both limits, and passes on a permit if the other limit has
    /// none.
    static let passedPermits = ExploredProgram("release of a limit / release of another one") { schedule in
        let limits = (0..<2).map { _ in AsyncSemaphore(capacity: 1) }
        var (queues, operations): ([TaskOperationQueue], [TaskOperation<Void>]) = ([], [])
        func add(_ number: Int) {
            for _ in 0..<number {
                queues.append(TaskOperationQueue(maxConcurrentOperationCount: 1))
                operations.append(queues.last!.addOperation(.limits(limits)) {})
            }
        }
        schedule.expect(limits.allSatisfy { $0.tryAcquire() }, "a permit was taken")
        add(2)
        // They wait for the second limit now, and the next ones for the first.
        limits[0].release()
        schedule.expect(limits[0].tryAcquire(), "a claim keeps the first limit")
        add(2)
        for limit in limits { schedule.thread("releasing") { [limit] in limit.release() } }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        for limit in limits { schedule.expect(limit.available == 1, "a permit was not returned") }
        for queue in queues { schedule.expectEmpty(queue) }
    }

    static let callback = ExploredProgram("a callback / its cancellation") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = queue.addOperation(name: "a") { (completion: CompletionHandler<Int>) in
            completion.onCancel {
                tally.count("cancelled")
                $0(throwing: CancellationError())
            }
            Task { if tally["cancelled"] == 0 { completion(returning: 2) } }
        }
        schedule.thread("canceller") { operation.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    static let scope = ExploredProgram("end of a scope / cancellation of its task") { schedule in
        let tally = Tally()
        schedule.thread("main task") {
            let task = Task {
                try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                    queue.addOperation { tally.count("a") }
                    queue.addOperation { tally.count("b") }
                }
                tally.count("end")
            }
            schedule.pause()
            task.cancel()
        }
        schedule.runToEnd()
        schedule.expect(tally["end"] == 1, "the scope has not ended")
        schedule.expectOnce(tally)
    }

    static let capacity = ExploredProgram("add / add to a full queue") { schedule in
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let operations = (0..<2).map { TaskOperation(name: "\($0)") {} }
        for operation in operations { schedule.thread("adder") { try? queue.addOperation(operation) } }
        schedule.thread("waiter") {
            Task { try? await queue.addOperationWaitingForRoom(TaskOperation(name: "late") {}) }
        }
        schedule.runToEnd()
        let dropped = operations.count { $0.isFinished }
        schedule.expect(dropped >= 1, "none was dropped")
        queue.isSuspended = false
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expectEmpty(queue)
    }

    static let shutDown = ExploredProgram("shut down / add") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { tally.count("a") }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("closer") { queue.shutDown(.cancel) }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    static let key = ExploredProgram("request / request of one key") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 2), Tally())
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        for _ in 0..<2 {
            schedule.thread("requester") {
                let request = keyed.request(1) {
                    tally.count("body")
                    return 1
                }
                Task { if try await request.value == 1 { tally.count("value") } }
            }
        }
        schedule.runToEnd()
        schedule.expect(tally["value"] == 2, "\(tally.counts)")
        schedule.expectEmpty(queue)
    }

    static let lazyValue = ExploredProgram("lazy value / its cancellation") { schedule in
        let tally = Tally()
        let value = AsyncLazy<Int> {
            tally.count("computed")
            return 7
        }
        schedule.thread("canceller") {
            let task = Task { _ = try? await value.value }
            schedule.pause()
            task.cancel()
        }
        schedule.thread("waiter") { Task { if try await value.value == 7 { tally.count("7") } } }
        schedule.runToEnd()
        schedule.expect(tally["7"] == 1 && tally["computed"] == 1, "\(tally.counts)")
    }

    static let group = ExploredProgram("leave of a group / wait / cancellation") { schedule in
        let (group, tally) = (AsyncGroup(), Tally())
        group.enter()
        schedule.thread("leaver") { group.leave() }
        schedule.thread("waiter") {
            Task {
                await group.wait()
                tally.count("waited")
            }
        }
        schedule.thread("canceller") {
            let task = Task {
                await group.wait()
                tally.count("cancelled")
            }
            schedule.pause()
            task.cancel()
        }
        schedule.runToEnd()
        schedule.expect(tally["waited"] == 1 && tally["cancelled"] == 1, "\(tally.counts)")
    }

    static let semaphore = ExploredProgram("permit / its cancellation / capacity") { schedule in
        let (semaphore, tally) = (AsyncSemaphore(capacity: 1), Tally())
        for name in ["a", "b"] {
            schedule.thread(name) {
                let task = Task {
                    try await semaphore.withPermit {
                        tally.enter()
                        await Task.yield()
                        tally.leave()
                    }
                }
                schedule.pause()
                if name == "b" { task.cancel() }
            }
        }
        schedule.runToEnd()
        schedule.expect(tally.most <= 1, "\(tally.most) had the permit")
        schedule.expect(semaphore.available == 1, "\(semaphore.available) permits are left")
    }

    static let thread = ExploredProgram("call on a thread / its cancellation") { schedule in
        let (executor, tally) = (ThreadExecutor(), Tally())
        for name in ["a", "b"] {
            schedule.thread(name) {
                let task = Task {
                    do {
                        try await executor.run { tally.count(name) }
                        tally.count("end of \(name)")
                    } catch {
                        tally.count("\(name) was given up")
                    }
                }
                schedule.pause()
                if name == "b" { task.cancel() }
            }
        }
        schedule.runToEnd()
        schedule.expect(tally["a"] == 1 && tally["end of a"] == 1, "\(tally.counts)")
        schedule.expect(tally["end of b"] == tally["b"] && tally["b was given up"] == 1 - tally["b"], "\(tally.counts)")
    }

    static let threads = ExploredProgram("call on threads / end of an idle thread") { schedule in
        let (executor, tally) = (BlockingExecutor(maxThreadCount: 2), Tally())
        for name in ["a", "b"] {
            schedule.thread(name) { Task { try await executor.run { tally.count(name) } } }
        }
        schedule.runToEnd()
        schedule.expect(tally.counts == ["a": 1, "b": 1], "\(tally.counts)")
    }

    static let timeout = ExploredProgram("timeout / end") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let operation = TaskOperation(name: "a") { tally.count("a") }
        try? operation.addOptions(.timeout(.seconds(1)))
        operation.addCompletionHandler { _ in tally.count("handler") }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expect(tally["handler"] == 1, "the handler was called \(tally["handler"]) times")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue)
    }

    /// Two bodies await each other. One of the waits is refused.
    static let crossing = ExploredProgram("wait / wait in a circle") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 2), Tally())
        let holder = Holder<TaskOperation<Void>>(nil)
        let first = TaskOperation(name: "first") {
            do { try await holder.value!.value } catch { tally.count("refused") }
        }
        let second = TaskOperation(name: "second") { do { try await first.value } catch { tally.count("refused") } }
        holder.value = second
        schedule.thread("one") { try? queue.addOperation(first) }
        schedule.thread("two") { try? queue.addOperation(second) }
        schedule.runToEnd()
        schedule.expectEnd(of: first, second)
        schedule.expect(tally["refused"] == 1, "\(tally["refused"]) waits were refused")
        schedule.expectEmpty(queue)
        holder.value = nil
    }
}

extension SmallPrograms {
    /// A body keeps the permit of a limit. One child task tries to wait for an operation that needs the limit, and is
    /// refused. Another child task opens a scope at the same time.
    static let keptLimit = ExploredProgram("refused wait for a limit / scope") { schedule in
        let (queue, semaphore, tally) = (TaskOperationQueue(), AsyncSemaphore(capacity: 1), Tally())
        let needing = TaskOperation(name: "needing") {}
        let keeping = TaskOperation(name: "keeping") {
            await withTaskGroup { group in
                group.addTask { do { try await needing.waitUntilFinished() } catch { tally.count("refused") } }
                group.addTask { try? await withTaskOperationQueue { _ in tally.count("scope") } }
            }
        }
        for operation in [needing, keeping] { try? operation.addOptions(.limit(semaphore)) }
        schedule.thread("adder") {
            try? queue.addOperation(keeping)
            // If the body already awaits the operation, the addition would close the cycle. In that case the addition
            // is refused instead of the wait.
            do { try queue.addOperation(needing) } catch { needing.cancel() }
        }
        schedule.runToEnd()
        schedule.expectEnd(of: keeping, needing)
        schedule.expectOnce(tally)
        schedule.expect(tally["scope"] == 1, "the scope has not ended")
        schedule.expectEmpty(queue)
    }

    /// A dependency on a barrier is added either before the operation starts, or too late. The body adds the barrier
    /// after the start, so there is no cycle.
    static let startedDependent = ExploredProgram("dependency on a barrier / start / add the barrier") { schedule in
        let (queue, holder) = (TaskOperationQueue(), Holder<TaskOperation<Void>>(nil))
        let operation = TaskOperation(name: "a") {
            try? queue.addBarrier(holder.value!)
            await Task.yield()
        }
        // The barrier is created last, so that adding the edge requires a search of the wait graph.
        let barrier = TaskOperation(name: "barrier") {}
        holder.value = barrier
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("depender") {
            do throws(TaskOperationError) {
                try operation.addDependency(barrier)
            } catch {
                if case .dependencyCycle = error { schedule.fail("\(error)") }
            }
        }
        schedule.runToEnd()
        barrier.cancel()
        schedule.runToEnd()
        schedule.expectEnd(of: operation, barrier)
        schedule.expectEmpty(queue)
    }

    /// If a queue refuses an operation because it is shut down, it cancels the operation's dependents in the same step.
    static let shutDownDependent = ExploredProgram("shut down / add / start of a dependent") { schedule in
        let (queue, tally) = (TaskOperationQueue(), Tally())
        let first = TaskOperation(name: "first") {}
        let second = TaskOperation(name: "second", dependencies: [first]) { tally.count("second") }
        try? queue.addOperation(second)
        schedule.thread("adder") { try? queue.addOperation(first) }
        schedule.thread("closer") { queue.shutDown(.cancel) }
        schedule.runToEnd()
        schedule.expectEnd(of: first, second)
        if case .queueShutDown? = first.failure as? TaskOperationError {
            schedule.expect(tally["second"] == 0, "the dependent of a refused operation ran after the shutdown")
        }
        schedule.expectEmpty(queue)
    }

    /// An operation whose addition is refused never appears in the queue, so no other call is refused because of it.
    static let refusedUnseen = ExploredProgram("refused add / dependency") { schedule in
        let queue = TaskOperationQueue()
        let (refused, other) = (TaskOperation(name: "refused") {}, TaskOperation(name: "other") {})
        let first = queue.addBarrier(dependencies: [refused]) {}
        let second = queue.addBarrier(dependencies: [other]) {}
        schedule.thread("adder") {
            if (try? queue.addOperation(refused)) != nil { schedule.fail("a cycle was closed") }
        }
        schedule.thread("depender") { do { try other.addDependency(first) } catch { schedule.fail("\(error)") } }
        schedule.runToEnd()
        refused.cancel()
        other.cancel()
        schedule.runToEnd()
        schedule.expectEnd(of: refused, other, first, second)
        schedule.expectEmpty(queue)
    }

    /// An addition closes two cycles through bodies that keep their permits. Each of the two bodies lends its permit.
    ///
    ///
    /// If the operation were inserted first, the first body would search for an order without end, because the wait
    /// graph would contain the second cycle, which does not include that body.
    static let lentInTurn = ExploredProgram("add behind a barrier / lend / lend") { schedule in
        let (queue, other) = (TaskOperationQueue(maxConcurrentOperationCount: 2), TaskOperationQueue())
        let late = TaskOperation(name: "late") {}
        let dependent = TaskOperation(name: "dependent", dependencies: [late]) {}
        let bodies = [dependent, late].map { target in queue.addOperation { try await target.waitUntilFinished() } }
        schedule.runToEnd()
        let last = queue.addOperation {}
        let barrier = other.addBarrier(dependencies: [last]) {}
        schedule.thread("adder") {
            do { try other.addOperation(late) } catch { schedule.fail("\(error)") }
            try? other.addOperation(dependent)
        }
        schedule.runToEnd()
        schedule.expectEnd(of: late, dependent, last, barrier, bodies[0], bodies[1])
        schedule.expectEmpty(queue, other)
    }

    /// One queue refuses an operation, and another queue accepts it. Cancelling the operation removes it from the
    /// second queue.
    static let refusedAndCancelled = ExploredProgram("refused add / add to another queue / cancel") { schedule in
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue(.init(isSuspended: true)))
        let operation = TaskOperation(name: "a") {}
        let barrier = queue.addBarrier(dependencies: [operation]) {}
        schedule.thread("adder") {
            try? queue.addOperation(operation)
            try? other.addOperation(operation)
        }
        schedule.thread("canceller") { operation.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: operation, barrier)
        schedule.expectEmpty(queue, other)
    }

    /// A queue does not contain an operation that has ended.
    /// An operation that is about to start gets a dependency. The addition is refused, or the operation waits.
    static let lateDependency = ExploredProgram("start / add a dependency") { schedule in
        let (queue, other) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
        let (tally, hasWaited, isAdded) = (Tally(), Holder(false), Holder(false))
        let dependency = TaskOperation(name: "dependency") {}
        let operation = TaskOperation(name: "a") {
            tally.count("a")
            hasWaited.value = dependency.isFinished
        }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.thread("dependent") {
            do {
                try operation.addDependency(dependency)
                isAdded.value = true
            } catch {
                if case TaskOperationError.alreadyStarted = error { return }
                schedule.expect(false, "\(error)")
            }
        }
        schedule.runToEnd()
        try? other.addOperation(dependency)
        schedule.runToEnd()
        schedule.expectEnd(of: operation, dependency)
        schedule.expect(!isAdded.value! || hasWaited.value!, "the operation has started before its dependency ended")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue, other)
    }

    static let seenEnd = ExploredProgram("end / look") { schedule in
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = TaskOperation(name: "a") {}
        try? queue.addOperation(operation)
        schedule.thread("observer") {
            if operation.isFinished { schedule.expect(queue.operationCount == 0, "the queue has a finished operation") }
        }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
        schedule.expectEmpty(queue)
    }

    /// The first task in line is cancelled. The second task needs fewer permits, and gets them.
    static let givenUpPlace = ExploredProgram("permits / cancellation of the first in line") { schedule in
        let (semaphore, tally) = (AsyncSemaphore(capacity: 2), Tally())
        schedule.thread("waiters") {
            guard semaphore.tryAcquire() else { return schedule.fail("no permit is left") }
            let first = Task { try await semaphore.acquire(weight: 2) }
            Task {
                try await semaphore.acquire()
                tally.count("acquired")
            }
            schedule.pause()
            first.cancel()
        }
        schedule.runToEnd()
        schedule.expect(tally["acquired"] == 1, "the second task did not get its permit")
    }

    /// A task is escalated before, while or after it joins the line of a semaphore. If the task is in line at a later
    /// release, it receives the permit first.
    static let escalatedWait = ExploredProgram("wait for a permit / escalation, then release") { schedule in
        let (semaphore, tally) = (AsyncSemaphore(capacity: 1), Tally())
        @Sendable func waiting(_ name: String, _ priority: TaskPriority) -> Task<Void, any Error> {
            Task(priority: priority) {
                try await semaphore.acquire()
                tally.count(name)
            }
        }
        schedule.expect(semaphore.tryAcquire(), "no permit is left")
        _ = waiting("first", .medium)
        schedule.runToEnd()
        schedule.thread("escalator") {
            let second = waiting("second", .low)
            ControlledSystem.yield()
            second.escalatePriority(to: .high)
            ControlledSystem.yield()
            if semaphore.waitingCount == 2 { semaphore.release() }
        }
        schedule.runToEnd()
        if tally.order.isEmpty { semaphore.release() }
        schedule.runToEnd()
        schedule.expect(tally.order == ["second"], "the permit went to: \(tally.order)")
        semaphore.release()
        schedule.runToEnd()
    }

    /// Two requests with the same key share an operation that has not started.
    static let joinedKey = ExploredProgram("request / request of a waiting key") { schedule in
        let (queue, tally) = (TaskOperationQueue(.init(isSuspended: true)), Tally())
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        for _ in 0..<2 {
            schedule.thread("requester") {
                keyed.request(1) {
                    tally.count("body")
                    return 1
                }
            }
        }
        schedule.runToEnd()
        queue.isSuspended = false
        schedule.runToEnd()
        schedule.expect(tally["body"] == 1, "\(tally.counts)")
        schedule.expectEmpty(queue)
    }

    /// A cancellation of the earlier request does not affect a later request.
    static let cancelledKey = ExploredProgram("cancellation of a request / request of the key") { schedule in
        let (queue, tally) = (TaskOperationQueue(.init(isSuspended: true)), Tally())
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let first = keyed.request(1) { 1 }
        schedule.thread("canceller") { first.cancel() }
        schedule.thread("requester") {
            let request = keyed.request(1) { 1 }
            Task { if try await request.value == 1 { tally.count("value") } }
        }
        schedule.runToEnd()
        queue.isSuspended = false
        schedule.runToEnd()
        schedule.expect(tally["value"] == 1, "the second request has no value")
        schedule.expectEmpty(queue)
    }

    /// One thread delivers the changes of both threads, and delivers all of them.
    static let delivered = ExploredProgram("change / change, with an observer") { schedule in
        let (queue, tally) = (TaskOperationQueue(), Tally())
        queue.addObserver(EndCounter(tally))
        for name in ["first", "second"] { schedule.thread(name) { queue.addOperation {} } }
        schedule.runToEnd()
        schedule.expect(tally["end"] == 2, "the observer was told of \(tally["end"]) ends")
        schedule.expectEmpty(queue)
    }

    /// A task waits for room. The operation is added if and only if the call returns without an error.
    static let roomOrCancelled = ExploredProgram("wait for room / cancel / room") { schedule in
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, isSuspended: true))
        let tally = Tally()
        queue.addOperation {}
        schedule.thread("waiter") {
            let task = Task {
                do {
                    try await queue.addOperationWaitingForRoom(TaskOperation(name: "late") {})
                    tally.count("added")
                } catch {
                    tally.count("refused")
                }
            }
            schedule.pause()
            task.cancel()
        }
        schedule.thread("maker") { queue.maxQueuedOperationCount = 2 }
        schedule.runToEnd()
        schedule.expect(tally["added"] + tally["refused"] == 1, "\(tally.counts)")
        let count = queue.operationCount
        schedule.expect(count == 1 + tally["added"], "\(count) operations, \(tally.counts)")
        queue.isSuspended = false
        schedule.runToEnd()
        schedule.expectEmpty(queue)
    }

    /// Listeners and sums of progress are called in the order of registration, so that the steps are repeatable.
    static let progress = ExploredProgram("report / report / progress of the queue") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 2), Tally())
        let operations = (0..<2).map { number in
            TaskOperation(name: "\(number)") {
                AnyTaskOperation.current?.reportProgress(0.5)
                await Task.yield()
            }
        }
        schedule.thread("waiters") {
            for _ in 0..<2 {
                Task {
                    var last = OperationProgress?.none
                    for await progress in queue.progressUpdates() { last = progress }
                    if last?.isFinished == true { tally.count("end") }
                }
            }
        }
        for operation in operations { try? queue.addOperation(operation) }
        schedule.runToEnd()
        for operation in operations { schedule.expectEnd(of: operation) }
        schedule.expect(tally["end"] == 2, "\(tally["end"]) of 2 sequences have ended")
        schedule.expectEmpty(queue)
    }

    /// Two bodies await a barrier that is added at the same time. Either the barrier is refused, or the wait of the
    /// body that was added before the barrier is refused.
    static let awaitedBarrier = ExploredProgram("add a barrier / wait for it / wait for it") { schedule in
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let holder = Holder<TaskOperation<Void>>(nil)
        let first = TaskOperation(name: "first") { try? await holder.value!.value }
        let second = TaskOperation(name: "second") { try? await holder.value!.value }
        let barrier = TaskOperation(name: "barrier") {}
        holder.value = barrier
        schedule.thread("one") { try? queue.addOperation(first) }
        schedule.thread("two") {
            try? queue.addOperation(second)
            do { try queue.addBarrier(barrier) } catch { barrier.cancel() }
        }
        schedule.runToEnd()
        schedule.expectEnd(of: first, second, barrier)
        schedule.expectEmpty(queue)
        holder.value = nil
    }

    /// A body begins to wait until a busy queue is empty. Meanwhile, another body is created that waits for the same,
    /// and an operation of the queue that depends on it. One of these two is refused.
    static let awaitedEnd = ExploredProgram("wait for the end / add a dependent of a second wait") { schedule in
        let (queue, other, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue(), Tally())
        let gate = TaskOperation(name: "gate") {}
        let busy = TaskOperation(name: "busy") { try? await gate.value }
        let waiter = TaskOperation(name: "waiter") { try? await queue.waitUntilAllOperationsAreFinished() }
        let added = Holder<[TaskOperation<Void>]>([])
        try? queue.addOperation(busy)
        schedule.runToEnd()
        schedule.thread("waiter") { try? other.addOperation(waiter) }
        schedule.thread("adder") {
            let second = TaskOperation(name: "second") {
                do { try await queue.waitUntilAllOperationsAreFinished() } catch { tally.count("refused") }
            }
            let dependent = TaskOperation(name: "dependent", dependencies: [second]) {}
            added.value = [second, dependent]
            do {
                try queue.addOperation(dependent)
            } catch {
                tally.count("refused")
                dependent.cancel()
            }
            try? other.addOperation(second)
        }
        schedule.runToEnd()
        try? other.addOperation(gate)
        schedule.runToEnd()
        schedule.expect(tally["refused"] == 1, "\(tally["refused"]) of the two were refused")
        for operation in [gate, busy, waiter] + added.value! { schedule.expectEnd(of: operation) }
        schedule.expectEmpty(queue, other)
    }

    /// A task waits until a queue is empty. If an operation is added before the last one ends, the task also waits for
    /// the added one.
    static let addedBeforeEnd = ExploredProgram("wait until the queue is empty / end / add") { schedule in
        let (queue, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Tally())
        let gate = TaskOperation(name: "gate") {}
        let first = TaskOperation(name: "first") {}
        let second = TaskOperation(name: "second") { try? await gate.value }
        schedule.thread("waiter") {
            try? queue.addOperation(first)
            Task {
                try await queue.waitUntilAllOperationsAreFinished()
                tally.count("end of the wait")
            }
        }
        schedule.thread("adder") {
            try? queue.addOperation(second)
            if !first.isFinished { tally.count("early addition") }
        }
        schedule.runToEnd()
        let isEarly = tally["early addition"] == 1
        schedule.expect(!isEarly || tally["end of the wait"] == 0, "the wait ended before the added operation")
        try? TaskOperationQueue().addOperation(gate)
        schedule.runToEnd()
        schedule.expectEnd(of: first, second)
        schedule.expectEmpty(queue)
    }
}

/// A reference that the threads of a schedule share.
final class Holder<Value>: @unchecked Sendable {
    // Only the thread that has the turn accesses this property.
    var value: Value?

    init(_ value: Value?) { self.value = value }
}

private final class EventOrder: TaskOperationObserver, @unchecked Sendable {
    // Only the thread that has the turn accesses this property.
    private let tally: Tally
    private var isCalled = false

    init(_ tally: Tally) { self.tally = tally }

    func operationChanged(_ event: TaskOperationEvent) {
        if isCalled { tally.count("at once") }
        isCalled = true
        isCalled = false
    }
}

/// Counts the ends of operations.
private final class EndCounter: TaskOperationObserver {
    private let tally: Tally

    init(_ tally: Tally) { self.tally = tally }

    func operationChanged(_ event: TaskOperationEvent) {
        if case .finished = event.kind { tally.count("end") }
    }
}
