import Foundation
import Synchronization
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Flight recorders", .inTurns, .endsInTime)
struct FlightRecorderTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    // MARK: Content

    @Test("a recording contains all changes, and its text conforms to Perfetto's format", .schedules(10))
    func everything() async throws {
        let queue = TaskOperationQueue(name: "work \"1\"\n", maxConcurrentOperationCount: 2)
        let other = TaskOperationQueue(name: "other", maxConcurrentOperationCount: 1)
        let recorder = try FlightRecorder(writingTo: folder["recording"], of: [queue, other])
        let order = Recorder<String>()
        let load = queue.addOperation(name: "load \\ ä") { order.record("load \\ ä") }
        let decode = other.addOperation(name: "decode", dependencies: [load]) { order.record("decode") }
        let outer = other.addOperation(name: "outer") {
            order.record("outer")
            try await other.addOperation(name: "inner", dependencies: [decode]) { order.record("inner") }.value
        }
        let failing = queue.addOperation(name: "failing", dependencies: [decode, outer]) {
            order.record("failing")
            throw CocoaError(.fileNoSuchFile)
        }
        let cancelled = queue.addOperation(name: "cancelled", dependencies: [failing]) {}
        cancelled.cancel()
        _ = await failing.result
        for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
        let trace = try Trace(contentsOf: folder["recording"])
        #expect(trace.operations == recorder.trace().operations, "the file and the memory are the same")
        #expect(trace.textFaults == [])
        #expect(trace.isComplete && trace.cancellationCount == 1 && trace.waiting == [])
        #expect(trace.queues.map(\.name) == ["work \"1\"\n", "other"] && trace.queues.map(\.width) == [2, 1])
        #expect(trace.operations.map(\.name) == order.events)
        let read = Dictionary(uniqueKeysWithValues: trace.operations.map { ($0.name, $0) })
        #expect(read["failing"]?.outcome == .failed && read["decode"]?.outcome == .succeeded)
        #expect(read["failing"]?.dependencies.map { trace.operations[$0].name }.sorted() == ["decode", "outer"])
        #expect(read["outer"]?.slices.count == 2, "its permit was lent once")
        #expect(read["outer"]?.awaited.map { trace.operations[$0].name } == ["inner"])
        #expect(trace.operations.allSatisfy { $0.added <= $0.ready && $0.ready <= $0.start && $0.start <= $0.end })
    }

    @Test("outcomes are those of the operations")
    func outcomes() async throws {
        let queue = TaskOperationQueue(name: "queue")
        let recorder = FlightRecorder(of: [queue])
        queue.addOperation(name: "good") {}
        let bad = queue.addOperation(name: "bad") { throw WorkFailed() }
        let without = queue.addOperation(name: "without input", after: bad) { _ in }
        queue.addOperation(name: "without second input", after: without) { _ in }
        queue.addOperation(name: "late", .timeout(perAttempt: .milliseconds(1))) {
            await untilCancelled()
            throw CancellationError()
        }
        let cancelled = queue.addOperation(name: "cancelled") {
            await untilCancelled()
            try Task.checkCancellation()
        }
        await until { cancelled.isExecuting }
        #expect(recorder.trace().operations.contains { $0.name == "cancelled" && $0.outcome == .unfinished })
        cancelled.cancel()
        try? await queue.waitUntilAllOperationsAreFinished()
        recorder.stop()
        let trace = recorder.trace()
        #expect(
            Dictionary(uniqueKeysWithValues: trace.operations.map { ($0.name, $0.outcome) }) == [
                "good": .succeeded, "bad": .failed, "late": .timedOut, "cancelled": .cancelled,
                "without input": .dependencyFailed, "without second input": .dependencyFailed,
            ])
        let chart = trace.timelineSVG()
        for match in chart.matches(of: /class="(\w+)"/) { #expect(chart.contains(".\(match.output.1) {")) }
    }

    @Test("operations without input are counted, and are not on the critical path", .schedules(10))
    func withoutInput() async throws {
        let queue = TaskOperationQueue(name: "queue")
        let recorder = FlightRecorder(of: [queue])
        let bad = queue.addOperation(name: "bad") { throw WorkFailed() }
        let without = queue.addOperation(after: bad) { _ in }
        _ = await queue.addOperation(after: without) { _ in }.result
        recorder.stop()
        let trace = recorder.trace()
        #expect(trace.criticalPath.map { trace.operations[$0.operation].name } == ["bad"])
        #expect(trace.explanation.contains(", of which 2 ended because an input had failed\n"))
    }

    @Test("many threads are recorded with the right arrows over queues")
    func manyThreads() async throws {
        let queues = (0..<3).map { TaskOperationQueue(name: "\($0)", maxConcurrentOperationCount: 3) }
        let recorder = FlightRecorder(of: queues)
        await concurrentPerform(over: 0..<6, width: 6) { part in
            var last: AnyTaskOperation?
            for number in 0..<200 {
                let dependencies = last.map { [$0] } ?? []
                last = queues[(part + number) % 3].addOperation(
                    name: "\(part) \(number)", dependencies: dependencies
                ) {}
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
        let trace = recorder.trace()
        #expect(trace.textFaults == [])
        #expect(trace.operations.count == 1200)
        let arrows = trace.operations.flatMap { operation in
            operation.dependencies.map { [trace.operations[$0].name, operation.name] }
        }
        let expected = (0..<6).flatMap { part in (1..<200).map { ["\(part) \($0 - 1)", "\(part) \($0)"] } }
        #expect(Set(arrows) == Set(expected) && arrows.count == expected.count)
        #expect(trace.queues.allSatisfy { $0.width == 3 && $0.laneCount <= 3 })
        for queue in 0..<3 { #expect(trace.utilization(ofQueue: queue) <= 1.0001) }
        #expect(!trace.criticalPath.isEmpty)
    }

    @Test("a build whose targets await each other has the longest chain as its critical path")
    func awaitedTargets() async throws {
        let queue = TaskOperationQueue(name: "build", maxConcurrentOperationCount: 10)
        let recorder = FlightRecorder(of: [queue])
        let gates = (0..<5).map { _ in Gate() }
        var (targets, others): ([TaskOperation<Void>], [TaskOperation<Void>]) = ([], [])
        for number in 0..<5 {
            let before = targets.last
            targets.append(
                queue.addOperation(name: "target \(number)") {
                    try await before?.value
                    await gates[number].pass()
                })
            others.append(queue.addOperation(name: "other \(number)") {})
        }
        // On a busy machine, the other operations might end last, and a target might begin after the one it needs.
        for other in others { try await other.value }
        for target in targets.dropLast() { await until { target.waiterCount > 0 } }
        for (gate, target) in zip(gates, targets) {
            await gate.waitForArrivals(1)
            gate.open()
            try await target.value
        }
        try await queue.waitUntilAllOperationsAreFinished()
        recorder.stop()
        let trace = recorder.trace()
        #expect(trace.textFaults == [])
        let names = trace.criticalPath.map { trace.operations[$0.operation].name }
        #expect(names.suffix(5) == (0..<5).map { "target \($0)" }.suffix(5))
    }

    @Test("the right arrow is drawn over queues if addresses are used again")
    func usedAddresses() async throws {
        let (queue, other) = (TaskOperationQueue(name: "queue"), TaskOperationQueue(name: "other"))
        let recorder = FlightRecorder(of: [queue, other])
        // These operations are freed, and later ones are likely to reuse their addresses.
        for _ in 0..<100 { try await queue.addOperation {}.value }
        for number in 0..<50 {
            let first = queue.addOperation(name: "first \(number)") {}
            try await other.addOperation(name: "second \(number)", dependencies: [first]) {}.value
        }
        for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
        let trace = recorder.trace()
        #expect(trace.textFaults == [])
        let arrows = trace.operations.filter { $0.name.hasPrefix("second") }.map { second in
            [second.name] + second.dependencies.map { trace.operations[$0].name }
        }
        #expect(Set(arrows) == Set((0..<50).map { ["second \($0)", "first \($0)"] }))
    }

    @Test("the last part of a recording leaves out what ended before")
    func lastPart() async throws {
        let queue = TaskOperationQueue(name: "queue")
        let recorder = FlightRecorder(of: [queue])
        try await queue.addOperation(name: "first") {}.value
        try await queue.waitUntilAllOperationsAreFinished()
        let gate = Gate()
        queue.addOperation(name: "second") { await gate.pass() }
        await gate.waitForArrivals(1)
        #expect(recorder.trace(last: .zero).operations.map(\.name) == ["second"])
        #expect(recorder.trace(last: .seconds(3600)).operations.map(\.name) == ["first", "second"])
        #expect(recorder.trace(last: .seconds(Int64.max)).operations.count == 2)
        #expect(recorder.trace(last: .seconds(-1)).operations.map(\.name) == ["second"])
        gate.open()
        recorder.stop()
    }

    // MARK: Reasons

    @Test("an operation that has not started has its reasons", .schedules(10))
    func reasons() async throws {
        let (gate, disk) = (Gate(), AsyncSemaphore(capacity: 1, name: "disk"))
        let names = ["suspended", "barrier", "full", "limited", "delayed", "dependent"]
        let queues = names.map { TaskOperationQueue(name: $0, maxConcurrentOperationCount: $0 == "full" ? 1 : 4) }
        let recorder = FlightRecorder(of: queues)
        queues[0].isSuspended = true
        queues[0].addOperation(name: "a") {}
        queues[1].addOperation(name: "before") { await gate.pass() }
        queues[1].addBarrier(name: "barrier") {}
        queues[1].addOperation(name: "behind") {}
        queues[2].addOperation(name: "only") { await gate.pass() }
        queues[2].addOperation(name: "next") {}
        queues[3].addOperation(name: "holder", .limit(disk)) { await gate.pass() }
        await gate.waitForArrivals(3)
        queues[3].addOperation(name: "b", .limit(disk)) {}
        let delayed = queues[4].addOperation(name: "c", .delay(.seconds(3600))) {}
        let other = TaskOperation(name: "not added") {}
        queues[5].addOperation(name: "d", dependencies: [delayed, other]) {}
        let trace = recorder.trace()
        let reasons = Dictionary(uniqueKeysWithValues: trace.waiting.map { ($0.name, $0.reasons) })
        #expect(
            reasons == [
                "a": [.suspension], "barrier": [.barrier("before")], "behind": [.barrier("barrier")], "next": [.permit],
                "b": [.limit("disk")], "c": [.delay],
                "d": [.dependency("c"), .dependency("an operation that was not added")],
            ])
        #expect(trace.waiting.map { trace.queues[$0.queue].name }.sorted() == (names + ["barrier"]).sorted())
        for line in [
            "a          suspended  the queue is suspended", "barrier    barrier    before must end first",
            "b          limited    it needs a permit of disk", "c          delayed    its delay is not over",
        ] {
            #expect(trace.explanation.contains(line), "\(trace.explanation)")
        }
        #expect(trace.textFaults == [])
        recorder.stop()
        queues[0].isSuspended = false
        gate.open()
        for queue in queues { queue.cancelAllOperations() }
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("operations that were added behind a full queue are in a trace and in a copy")
    func unnoticedAdditions() async throws {
        let (queue, gate) = (TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1), Gate())
        let recorder = FlightRecorder(of: [queue])
        queue.addOperation(name: "executing") { await gate.pass() }
        await gate.waitForArrivals(1)
        // The queue inserts it at its next event.
        queue.addOperation(name: "first") {}
        #expect(recorder.trace().waiting.map(\.name) == ["first"])
        queue.addOperation(name: "second") {}
        try recorder.write(to: folder["copy"])
        #expect(try Trace(contentsOf: folder["copy"]).waiting.map(\.name) == ["first", "second"])
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        recorder.stop()
    }

    @Test("a body that awaits operations has their names, and nothing for what is no operation")
    func awaits() async throws {
        let (queue, gate) = (TaskOperationQueue(name: "queue"), Gate())
        let recorder = FlightRecorder(of: [queue])
        let target = queue.addOperation(name: "target") { await gate.pass() }
        let suspended = TaskOperationQueue(name: "suspended")
        suspended.isSuspended = true
        let unseen = suspended.addOperation(name: "unseen") {}
        let awaiting = queue.addOperation(name: "awaiting") {
            async let second: Void = unseen.value
            try await target.value
            try await second
        }
        await until { target.waiterCount > 0 && unseen.waiterCount > 0 }
        func awaits() -> [String?]? { recorder.trace().operations.first { $0.name == "awaiting" }?.awaits }
        #expect(await eventually { awaits()?.count == 2 })
        #expect(Set(awaits() ?? []) == ["target", nil])
        gate.open()
        try await target.value
        #expect(await eventually { awaits() == [nil] })
        suspended.isSuspended = false
        try await awaiting.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(awaits() == [])
        recorder.stop()
    }

    // MARK: Rings

    @Test("what hangs, what waits for it and why are in a ring that was written many times over, once each")
    func wrappedRing() async throws {
        let (queue, load) = (
            TaskOperationQueue(name: "hangs", maxConcurrentOperationCount: 1), TaskOperationQueue(name: "load")
        )
        let (suspended, gate) = (TaskOperationQueue(name: "suspended"), Gate())
        let disk = AsyncSemaphore(capacity: 0, name: "disk")
        suspended.isSuspended = true
        let queues = [queue, load, suspended]
        let recorder = FlightRecorder(of: queues, capacity: FlightRecorder.minimumCapacity)
        let culprit = queue.addOperation(name: "culprit") { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addOperation(name: "behind") {}
        let barrier = queue.addBarrier(name: "barrier") {}
        suspended.addOperation(name: "suspended", dependencies: []) {}
        suspended.addOperation(name: "later", dependencies: [culprit]) {}
        load.addOperation(name: "limited", .limit(disk)) {}
        load.addOperation(name: "awaiting") { try await culprit.value }
        await until { culprit.waiterCount > 0 }
        for _ in 0..<8 {
            for number in 0..<1000 { load.addOperation(name: "number \(number)") {} }
            await until { load.operationCount == 2 }
            // The thread that describes the queues again may be late.
            let isComplete = await eventually {
                let trace = recorder.trace()
                let hanging = trace.operations.filter { ["culprit", "awaiting"].contains($0.name) }
                let reasons = trace.waiting.map { [$0.name] + $0.reasons.map { "\($0)" } }.sorted { $0[0] < $1[0] }
                return Set(hanging.map { trace.queues[$0.queue].name }) == ["hangs", "load"] && hanging.count == 2
                    && hanging.allSatisfy { $0.outcome == .unfinished } && hanging.flatMap(\.awaits) == ["culprit"]
                    && reasons == [
                        ["barrier", "culprit must end first", "all permits are in use"],
                        ["behind", "all permits are in use"],
                        ["later", "culprit has not ended"],
                        ["limited", "it needs a permit of disk"],
                        ["suspended", "the queue is suspended"],
                    ]
            }
            #expect(isComplete, "\(recorder.trace().explanation)")
            #expect(recorder.trace().textFaults == [])
        }
        gate.open()
        suspended.isSuspended = false
        try await barrier.value
        load.cancelAllOperations()
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
        let trace = recorder.trace()
        #expect(trace.waiting == [] && trace.operations.allSatisfy { $0.outcome != .unfinished })
        recorder.stop()
    }

    @Test("two recorders record at once, and each stops by itself")
    func twoRecorders() async throws {
        let (queue, other) = (TaskOperationQueue(name: "queue"), TaskOperationQueue(name: "other"))
        let first = FlightRecorder(of: [queue])
        try await queue.addOperation(name: "a") {}.value
        let second = try FlightRecorder(writingTo: folder["second"], of: [queue, other])
        for queue in [queue, other] { try await queue.addOperation(name: "b") {}.value }
        for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
        first.stop()
        try await other.addOperation(name: "c") {}.value
        try await queue.addOperation(name: "d") {}.value
        for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(try !Trace(contentsOf: folder["second"]).isComplete)
        second.stop()
        second.stop()
        try await queue.addOperation(name: "e") {}.value
        #expect(first.trace().operations.map(\.name) == ["a", "b"] && first.trace().isComplete)
        let trace = try Trace(contentsOf: folder["second"])
        #expect(trace.operations.map(\.name) == ["b", "b", "c", "d"] && trace.isComplete)
    }

    @Test("a recorder may start and stop at any time while operations run")
    func startAndStop() async throws {
        let queues = (0..<2).map { TaskOperationQueue(name: "queue \($0)", maxConcurrentOperationCount: 4) }
        let isOver = Atomic(false)
        async let load: Void = concurrentPerform(over: 0..<2, width: 2) { index in
            var last: AnyTaskOperation?
            while !isOver.load(ordering: .relaxed) {
                let dependencies = last.map { [$0] } ?? []
                let next = queues[index].addOperation(name: "work", dependencies: dependencies) {}
                try? await queues[1 - index].addOperation { try await next.value }.value
                last = next
            }
        }
        for round in 0..<(isDeep ? 300 : 100) {
            let recorder = FlightRecorder(
                of: round.isMultiple(of: 2) ? queues : [queues[0]], capacity: FlightRecorder.minimumCapacity)
            if round.isMultiple(of: 3) { await Task.yield() }
            #expect(recorder.trace().faults == [])
            recorder.stop()
            let trace = recorder.trace()
            #expect(trace.isComplete && trace.faults == [])
            #expect(recorder.trace().operations == trace.operations, "nothing changes after the end")
            #expect(recorder.trace().waiting == trace.waiting)
        }
        isOver.store(true, ordering: .relaxed)
        await load
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("a recorder that starts late knows what executes and waits, with names and reasons")
    func lateStart() async throws {
        let (queue, gate) = (TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1), Gate())
        let target = queue.addOperation(name: "executing") { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addOperation(name: "waiting") {}
        queue.addOperation(name: "dependent", dependencies: [target]) {}
        let recorder = FlightRecorder(of: [queue])
        let trace = recorder.trace()
        #expect(trace.operations.map(\.name) == ["executing"] && trace.operations[0].outcome == .unfinished)
        #expect(trace.waiting.map(\.name) == ["waiting", "dependent"])
        #expect(trace.waiting.map(\.reasons) == [[.permit], [.dependency("executing")]])
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        recorder.stop()
        #expect(recorder.trace().operations.map(\.name) == ["executing", "waiting", "dependent"])
        #expect(recorder.trace().operations.allSatisfy { $0.outcome == .succeeded })
    }

    @Test("a recorder that the program releases without stopping it goes on, and its file remains")
    func released() async throws {
        let queue = TaskOperationQueue(name: "queue")
        _ = try FlightRecorder(writingTo: folder["recording"], of: [queue])
        for _ in 0..<10 { try await queue.addOperation {}.value }
        try await queue.waitUntilAllOperationsAreFinished()
        let trace = try Trace(contentsOf: folder["recording"])
        #expect(trace.operations.count == 10 && !trace.isComplete)
    }

    // MARK: Files

    @Test("a growing file keeps all operations, and can be read meanwhile without a gap")
    func growingFile() async throws {
        let queues = (0..<2).map { TaskOperationQueue(name: "\($0)", maxConcurrentOperationCount: 2) }
        let recorder = try FlightRecorder(writingTo: folder["recording"], of: queues, capacity: .max)
        let (count, path) = (isDeep ? 100_000 : 20_000, folder["recording"])
        let isOver = Atomic(false)
        // On a thread of its own, because the pool may have only two.
        async let reading: Void = onThreads(1) { _ in
            var readings = 0
            while !isOver.load(ordering: .relaxed) || readings == 0 {
                guard let trace = try? Trace(contentsOf: path) else {
                    Issue.record("the file cannot be read")
                    return
                }
                #expect(trace.faults == [])
                for queue in trace.queues.indices {
                    let numbers =
                        trace.operations.filter { $0.queue == queue }.map(\.number)
                        + trace.waiting.filter { $0.queue == queue }.map(\.number)
                    #expect(numbers.sorted() == Array(1...numbers.count), "an operation is missing")
                }
                readings += 1
            }
        }
        let load = RecordedLoad(queues, threads: 4)
        await load.run(count)
        isOver.store(true, ordering: .relaxed)
        await reading
        recorder.stop()
        let trace = try Trace(contentsOf: path)
        #expect(trace.operations.count == count && trace.waiting == [] && trace.faults == [])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(try #require(size).isMultiple(of: 4 << 20))
        let audit = try RecordAudit(path, queues: Set(queues.map { UInt64($0.scheduler.queueNumber) }))
        #expect(audit.faults == [] && audit.recordCount >= 3 * count)
    }

    @Test("a file replaces an existing one, which its readers keep")
    func replacedFile() async throws {
        let queue = TaskOperationQueue(name: "queue")
        let first = try FlightRecorder(writingTo: folder["recording"], of: [queue])
        let second = try FlightRecorder(writingTo: folder["recording"], of: [queue])
        try await queue.addOperation {}.value
        try await queue.waitUntilAllOperationsAreFinished()
        for recorder in [first, second] { recorder.stop() }
        #expect(first.trace().operations.count == 1)
        #expect(try Trace(contentsOf: folder["recording"]).operations.count == 1)
    }

    @Test("a file in a folder that is missing is refused, and one that cannot be written too")
    func noFile() {
        #expect(throws: TraceError.self) { _ = try FlightRecorder(writingTo: folder["none/recording"]) }
        let recorder = FlightRecorder(of: [TaskOperationQueue()])
        do {
            try recorder.write(to: folder["none/recording"])
            Issue.record("the file was written")
        } catch {
            #expect("\(error)" == "\(folder["none/recording"]): cannot be written: No such file or directory")
        }
        recorder.stop()
    }

    @Test("a written copy has what the ring has, and stays as it is")
    func copy() async throws {
        let queue = TaskOperationQueue(name: "queue")
        let recorder = FlightRecorder(of: [queue])
        try await queue.addOperation(name: "a") {}.value
        try await queue.waitUntilAllOperationsAreFinished()
        try recorder.write(to: folder["copy"])
        try await queue.addOperation(name: "b") {}.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(try Trace(contentsOf: folder["copy"]).operations.map(\.name) == ["a"])
        try recorder.write(to: folder["copy"])
        #expect(try Trace(contentsOf: folder["copy"]).operations.map(\.name) == ["a", "b"])
        recorder.stop()
    }

    @Test("a capacity that is too small is refused with the least one")
    func smallCapacity() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = FlightRecorder(capacity: FlightRecorder.minimumCapacity - 1)
        }
        #expect(result.errorText.contains("the capacity of a recorder is 135167 bytes; it must be at least 135168."))
    }
}

extension Trace {
    /// What cannot be, up to ten messages: wrong orders of times, and operations that occur twice.
    var faults: [String] {
        var faults: [String] = []
        func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
            if !holds, faults.count < 10 { faults.append(message()) }
        }
        var seen: Set<[Int]> = []
        for operation in operations {
            demand(seen.insert([operation.queue, operation.number]).inserted, "\(operation) occurs twice")
            demand(
                operation.added <= operation.ready && operation.ready <= operation.start
                    && operation.start <= operation.end, "the times of \(operation) are in disorder")
            demand(
                zip(operation.slices, operation.slices.dropFirst()).allSatisfy { $0.end <= $1.start },
                "slices of \(operation) overlap")
            for dependency in operation.dependencies.map({ operations[$0] }) {
                demand(
                    dependency.outcome != .unfinished && dependency.end <= operation.start,
                    "\(dependency) ended after the start of \(operation)")
            }
        }
        for operation in waiting {
            demand(seen.insert([operation.queue, operation.number]).inserted, "\(operation) occurs twice")
        }
        return faults
    }
}
