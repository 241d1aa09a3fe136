import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsExtras

@Suite("Progress of operations", .inTurns, .endsInTime)
struct ProgressTests {
    @Test("A change of progress passes through any number of nested groups")
    func nestedGroups() {
        let operation = TaskOperation {}
        var (units, sums) = ([ProgressUnit()], [ProgressSum]())
        for _ in 0..<60_000 {
            sums.append(ProgressSum(of: units.last!))
            units.append(ProgressUnit())
            units.last!.join(sums.last!, for: operation)
        }
        units.last!.report(OperationProgress(fraction: 0.5))
        #expect(sums[0].current.fraction == 0)
        // Released from the innermost one, because a release of the outermost one would free all others recursively.
        while let sum = sums.popLast() {
            sum.remove(units.removeLast())
        }
    }

    @Test("the reports of a body are delivered, the latest one last, and then the end", .schedules(50))
    func reports() async throws {
        let queue = TaskOperationQueue()
        let gate = Gate()
        let operation = queue.addOperation {
            for number in 1...10 {
                AnyTaskOperation.current?.reportProgress(number, of: 10)
                await Task.yield()
            }
            await gate.pass()
        }
        var fractions: [Double] = []
        for await progress in operation.progress {
            fractions.append(progress.fraction)
            if progress.completedUnitCount == 10, !progress.isFinished {
                #expect(progress.totalUnitCount == 10)
                gate.open()
            }
        }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(operation.currentProgress.isFinished)
        var again: [Bool] = []
        for await progress in operation.progress { again.append(progress.isFinished) }
        #expect(again == [true])
        operation.reportProgress(0.5)
        #expect(operation.currentProgress.fraction == 1)
    }

    @Test("every way to end completes it: a failure, a cancellation before the start, a refusal", .schedules(20))
    func ends() async throws {
        let queue = TaskOperationQueue()
        let failing = queue.addOperation {
            AnyTaskOperation.current?.reportProgress(0.3)
            throw WorkFailed()
        }
        queue.isSuspended = true
        let cancelled = queue.addOperation {}
        let updates = cancelled.progress
        async let last = updates.reduce(OperationProgress?.none) { $1 }
        await untilOthersWait()
        cancelled.cancel()
        #expect(await last?.isFinished == true)
        queue.isSuspended = false
        #expect(await failing.progress.reduce(OperationProgress?.none) { $1 }?.fraction == 1)
        queue.shutDown()
        let late = queue.addOperation {}
        #expect(await late.progress.reduce(0) { $1.fraction } == 1)
    }

    @Test("an operation does not report to the progress of an earlier queue that had the same address")
    func earlierQueue() async throws {
        for _ in 0..<500 {
            let (updates, address) = await progressOfReleasedQueue()
            let queue = TaskOperationQueue()
            let fraction = try await queue.addOperation {
                AnyTaskOperation.current?.reportProgress(0.5)
                return await updates.first { _ in true }?.fraction
            }.value
            #expect(fraction == 1)
            if ObjectIdentifier(queue.scheduler) == address { return }
        }
    }

    /// Returns the progress of a queue that ran one operation and was freed, and the former address of the queue.
    private func progressOfReleasedQueue() async -> (updates: ProgressUpdates, address: ObjectIdentifier) {
        let queue = TaskOperationQueue()
        let updates = queue.progressUpdates()
        queue.addOperation {}
        // The wait for the queue may end before the progress has counted the operation.
        _ = await eventually { await updates.first { _ in true }?.fraction == 1 }
        return (updates, ObjectIdentifier(queue.scheduler))
    }

    @Test(
        "A body at width 1 lends its permit while it awaits progress that needs the permit", .schedules(20),
        arguments: 0..<4)
    func ownQueue(form: Int) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let keyed = KeyedOperations<Int, Void>(queue: queue)
        let body = queue.addOperation {
            let part = TaskOperation {
                AnyTaskOperation.current?.reportProgress(0.5)
                await Task.yield()
            }
            let own = AnyTaskOperation.current!
            let updates: ProgressUpdates
            switch form {
            case 0:
                try queue.addOperation(part)
                updates = part.progress
            case 1:
                updates = keyed.request(1) { part }.progress
            case 2:
                updates = queue.progressUpdates()
                try queue.addOperation(part)
            default:
                // The progress of this operation, which waits for the body, changes with the progress of the part.
                updates = queue.addOperation(dependencies: [own, part]) {}.progress
                try queue.addOperation(part)
            }
            for await _ in updates where part.isFinished { break }
            return part.isFinished
        }
        #expect(await eventually { body.isFinished })
        #expect(body.outcome.map { (try? $0.get()) == true } == true)
        queue.cancelAllOperations()
    }

    @Test(
        "A body keeps its permit while it awaits progress of an operation that does not need the permit",
        .schedules(20))
    func keptPermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (other, gate) = (TaskOperationQueue(), Gate())
        let order = Recorder<String>()
        let body = queue.addOperation {
            for await _ in other.addOperation(body: { await gate.pass() }).progress {}
            order.record("body")
        }
        let next = queue.addOperation { order.record("next") }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        gate.open()
        try await body.value
        try await next.value
        #expect(order.events == ["body", "next"])
    }

    @Test("cancelling the task ends the sequence", .schedules(20))
    func cancelledTask() async throws {
        let operation = TaskOperation {}
        let count = await withTaskGroup(of: Int.self) { group in
            group.addTask { await operation.progress.reduce(0) { count, _ in count + 1 } }
            await untilOthersWait()
            group.cancelAll()
            return await group.next()!
        }
        #expect(count <= 1)
    }

    @Test("a chain adds up all that it depends on, each the same", .schedules(30))
    func chain() async throws {
        let queue = TaskOperationQueue()
        let gates = (0..<3).map { _ in Gate() }
        let first = queue.addOperation {
            AnyTaskOperation.current?.reportProgress(0.5)
            await gates[0].pass()
        }
        let second = queue.addOperation(after: first) { await gates[1].pass() }
        let third = queue.addOperation(after: second) { await gates[2].pass() }
        var (fractions, opened) = ([Double](), 0)
        for await progress in third.progress {
            if progress.fraction != fractions.last { fractions.append(progress.fraction) }
            if progress.fraction * 3 >= Double(opened) + (opened == 0 ? 0.5 : 0), opened < 3 {
                gates[opened].open()
                opened += 1
            }
            #expect(progress.totalUnitCount == 3)
        }
        #expect(fractions.last == 1)
        #expect(fractions.contains(0.5 / 3))
        #expect(fractions.contains(1.0 / 3))
    }

    @Test("a group is where its operations are together, as deep as it is nested", .schedules(30))
    func group() async throws {
        let queue = TaskOperationQueue()
        let (gate, half) = (Gate(), Gate())
        let group = queue.addGroup { group in
            group.addGroup { inner in
                inner.addOperation {}
                inner.addOperation {
                    AnyTaskOperation.current?.reportProgress(0.5)
                    half.open()
                    await gate.pass()
                }
            }
            group.addOperation {}
        }
        await half.pass()
        await until { group.currentProgress.fraction == (1 + 0.75) / 2 }
        #expect(group.currentProgress.totalUnitCount == 2)
        var last = OperationProgress?.none
        for await progress in group.progress {
            last = progress
            gate.open()
        }
        #expect(last?.isFinished == true)
        #expect(last?.fraction == 1)
    }

    @Test("an operation that its group refuses counts neither as added nor as ended", .schedules(10))
    func refused() async throws {
        let queue = TaskOperationQueue()
        let group = queue.addGroup { group in
            let operation = TaskOperation {}
            try group.addOperation(operation)
            #expect(refusal { try group.addOperation(operation) } != nil)
            try await operation.value
            let own = try #require(AnyTaskOperation.current)
            await until { own.currentProgress.completedUnitCount == 1 }
            #expect(own.currentProgress.totalUnitCount == 1)
            #expect(own.currentProgress.fraction == 1)
        }
        try await group.value
    }

    @Test("requests of one key have the progress of their operation until they are cancelled", .schedules(30))
    func keys() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<Int, Int>(queue: queue), Gate())
        let requests = (0..<2).map { _ in
            keyed.request(1) {
                AnyTaskOperation.current?.reportProgress(1, of: 2)
                await gate.pass()
                return 1
            }
        }
        async let left = requests[0].progress.reduce(into: [Bool]()) { $0.append($1.isFinished) }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        requests[0].cancel()
        #expect(await !left.contains(true))
        gate.open()
        #expect(await requests[1].progress.reduce(into: [Bool]()) { $0.append($1.isFinished) }.last == true)
    }

    @Test("a queue has the sum of its operations, which decreases only by additions", .schedules(50))
    func queue() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        for number in 0..<10 {
            queue.addOperation {
                for step in 1...4 {
                    AnyTaskOperation.current?.reportProgress(step, of: 5)
                    await Task.yield()
                }
                if number == 3 { throw WorkFailed() }
            }
        }
        let updates = queue.progressUpdates()
        queue.isSuspended = false
        var fractions: [Double] = []
        for await progress in updates {
            fractions.append(progress.fraction)
            #expect(progress.totalUnitCount == 10)
            #expect(progress.fraction <= 1)
        }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
    }

    @Test("a queue has the fractions of the operations that execute")
    func partial() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let gate = Gate()
        let operations = (0..<4).map { _ in
            queue.addOperation {
                AnyTaskOperation.current?.reportProgress(1, of: 4)
                await gate.pass()
            }
        }
        let updates = queue.progressUpdates()
        queue.isSuspended = false
        await gate.waitForArrivals(2)
        #expect(await updates.first { _ in true }?.fraction == 2 * 0.25 / 4)
        gate.open()
        for operation in operations { try await operation.value }
    }

    @Test("The progress of a queue waits for its first operation, and for the expected number", .schedules(50))
    func expectedNumber() async throws {
        let queue = TaskOperationQueue()
        let (open, expecting) = (queue.progressUpdates(), queue.progressUpdates(expecting: 4))
        #expect(await open.first { _ in true }?.isFinished == false)
        async let openEnd = open.reduce(OperationProgress?.none) { $1 }
        async let expectingEnd = expecting.reduce(into: []) { $0.append($1) }
        await untilOthersWait()
        queue.addOperation {}
        #expect(await openEnd?.totalUnitCount == 1)
        await untilOthersWait()
        for _ in 0..<3 { queue.addOperation {} }
        let all = await expectingEnd
        #expect(all.map(\.fraction) == all.map(\.fraction).sorted())
        #expect(all.allSatisfy { $0.totalUnitCount == 4 })
        #expect(all.dropLast().allSatisfy { !$0.isFinished })
        #expect(all.last?.isFinished == true)
    }

    @Test("The progress of a queue ends when the queue is released", .schedules(20), arguments: [1, 0, .max, .min])
    func releasedQueue(count: Int) async throws {
        var queue: TaskOperationQueue? = TaskOperationQueue()
        let updates = queue!.progressUpdates(expecting: count)
        async let end = updates.reduce(OperationProgress?.none) { $1 }
        await untilOthersWait()
        queue = nil
        #expect(await end?.isFinished == true)
    }

    @Test("fractions are from 0 to 1 for any report")
    func values() async throws {
        let operation = TaskOperation {}
        for (fraction, expected) in [(-1.0, 0.0), (2, 1), (.nan, 0), (.infinity, 1), (0.25, 0.25)] {
            operation.reportProgress(fraction)
            #expect(operation.currentProgress.fraction == expected)
        }
        operation.reportProgress(5, of: 0)
        #expect(operation.currentProgress.fraction == 0)
        #expect(operation.currentProgress.totalUnitCount == nil)
        #expect(operation.currentProgress.completedUnitCount == 5)
        operation.reportProgress(-5, of: -1)
        #expect(operation.currentProgress.completedUnitCount == 0)
        operation.reportProgress(7, of: 5)
        #expect(operation.currentProgress.fraction == 1)
        #expect(!operation.currentProgress.isFinished)
        operation.reportProgress(.max, of: .max)
        operation.reportProgress(.min, of: .min)
        #expect(operation.currentProgress.fraction == 0)
    }

    @Test("reports from many threads race with the end, and with listeners that are added and removed")
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let updates = queue.progressUpdates()
        let operations = (0..<200).map { number in
            queue.addOperation {
                await withTaskGroup { group in
                    for step in 0..<4 {
                        group.addTask { AnyTaskOperation.current?.reportProgress(Double(step) / 4) }
                    }
                }
                if number % 7 == 0 { throw WorkFailed() }
            }
        }
        await withTaskGroup { group in
            for (number, operation) in operations.enumerated() {
                group.addTask { for await _ in operation.progress where number % 3 == 0 { break } }
                if number % 5 == 0 { group.addTask { operation.cancel() } }
                if number % 50 == 0 { group.addTask { for await _ in updates {} } }
            }
        }
        #expect(operations.allSatisfy { $0.currentProgress.isFinished })
    }

    @Test("An operation whose handlers are called counts once", .schedules(20))
    func countsOnce() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let sum = try #require(queue.progressUpdates().sources.first as? ProgressSum)
        let (gate, fractions) = (Gate(), Recorder<Double>())
        let operation = TaskOperation { AnyTaskOperation.current?.reportProgress(0.9) }
        // This handler is called before the one that completes the operation's own progress.
        operation.addCompletionHandler { fractions.record(sum.current.fraction) }
        try queue.addOperations([operation, TaskOperation { await gate.pass() }])
        try await operation.value
        await until { sum.current.completedUnitCount == 1 }
        #expect(fractions.events.count == 1)
        #expect((fractions.events + [sum.current.fraction]).allSatisfy { $0 <= 0.5 })
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        await until { sum.current.isFinished }
    }

    @Test("units are freed with their operations, and groups with their sums")
    func freed() async throws {
        weak let weakOperation: AnyTaskOperation?
        do {
            let queue = TaskOperationQueue()
            let group = queue.addGroup { group in
                group.addOperation { AnyTaskOperation.current?.reportProgress(0.5) }
            }
            weakOperation = group
            for await _ in group.progress {}
            try await queue.waitUntilAllOperationsAreFinished()
        }
        await until { weakOperation == nil }
    }
}
