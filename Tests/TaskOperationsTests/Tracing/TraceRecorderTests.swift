import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Traces that are written", .inTurns, .timeLimit(.minutes(120)))
struct TraceRecorderTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    @Test("a trace contains all events, conforms to the format, and can be read back", .schedules(10))
    func everything() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url)
        let queue = TaskOperationQueue(name: "work \"1\"\n", maxConcurrentOperationCount: 2)
        let other = TaskOperationQueue(name: "other", maxConcurrentOperationCount: 1)
        for queue in [queue, other] { queue.addObserver(recorder) }
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
        for queue in [queue, other] {
            try await queue.waitUntilAllOperationsAreFinished()
            queue.removeObserver(recorder)
        }
        try recorder.finish()
        #expect(try TraceValidator(url).faults == [])
        let trace = try Trace(contentsOf: url)
        #expect(trace.isComplete && trace.cancellationCount == 1)
        #expect(Set(trace.queues.map(\.name)) == ["work \"1\"\n", "other"])
        #expect(trace.operations.map(\.name) == order.events)
        let read = Dictionary(uniqueKeysWithValues: trace.operations.map { ($0.name, $0) })
        #expect(read["failing"]?.outcome == .failed && read["decode"]?.outcome == .succeeded)
        #expect(read["failing"]?.dependencies.map { trace.operations[$0].name }.sorted() == ["decode", "outer"])
        #expect(read["outer"]?.slices.count == 2, "its permit was lent once")
        #expect(trace.operations.allSatisfy { $0.added <= $0.ready && $0.ready <= $0.start && $0.start <= $0.end })
    }

    @Test("many threads write a trace that keeps to the format, with arrows over queues")
    func manyThreads() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url)
        let queues = (0..<3).map { TaskOperationQueue(name: "\($0)", maxConcurrentOperationCount: 3) }
        let events = EventJournal()
        for queue in queues {
            queue.addObserver(recorder)
            // This observer is called after the recorder.
            queue.addObserver(events)
        }
        await concurrentPerform(over: 0..<6, width: 6) { part in
            var last: AnyTaskOperation?
            for number in 0..<200 {
                let dependencies = last.map { [$0] } ?? []
                last = queues[(part + number) % 3].addOperation(dependencies: dependencies) {}
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(await eventually { events.finishedCount == 1200 })
        try recorder.finish()
        let validator = try TraceValidator(url)
        #expect(validator.faults == [])
        let trace = try Trace(contentsOf: url)
        #expect(trace.operations.count == 1200)
        #expect(trace.operations.count { !$0.dependencies.isEmpty } == 1194, "all but the first of each part")
        #expect(trace.queues.allSatisfy { $0.width == 3 && $0.laneCount <= 3 })
        for queue in 0..<3 { #expect(trace.utilization(ofQueue: queue) <= 1.0001) }
        #expect(!trace.criticalPath.isEmpty)
    }

    @Test("a build whose targets await each other has the longest chain as its critical path")
    func awaitedTargets() async throws {
        let url = folder["trace.json"]
        let (recorder, events) = (try TraceRecorder(writingTo: url), EventJournal())
        let queue = TaskOperationQueue(name: "build", maxConcurrentOperationCount: 10)
        queue.addObserver(recorder)
        queue.addObserver(events)
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
        #expect(await eventually { events.finishedCount == 10 })
        try recorder.finish()
        #expect(try TraceValidator(url).faults == [])
        let trace = try Trace(contentsOf: url)
        let names = trace.criticalPath.map { trace.operations[$0.operation].name }
        #expect(names.suffix(5) == (0..<5).map { "target \($0)" }.suffix(5))
    }

    @Test("the right arrow is drawn if the end of the dependency is reported last")
    func lateEnd() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url)
        let (queue, other) = (TaskOperationQueue(name: "queue"), TaskOperationQueue(name: "other"))
        // These operations are freed, and later ones are likely to reuse their addresses.
        queue.addObserver(recorder)
        for _ in 0..<100 { try await queue.addOperation {}.value }
        queue.removeObserver(recorder)
        let (events, otherEvents) = (EventJournal(), EventJournal())
        queue.addObserver(events)
        other.addObserver(otherEvents)
        for number in 0..<50 {
            let first = queue.addOperation(name: "first \(number)") {}
            try await other.addOperation(name: "second \(number)", dependencies: [first]) {}.value
        }
        for queue in [queue, other] { try await queue.waitUntilAllOperationsAreFinished() }
        let isTold = await eventually { [events, otherEvents].allSatisfy { $0.finishedCount == 50 } }
        #expect(isTold)
        for event in otherEvents.events + events.events { recorder.operationChanged(event) }
        try recorder.finish()
        #expect(try TraceValidator(url).faults == [])
        let trace = try Trace(contentsOf: url)
        let arrows = trace.operations.filter { $0.name.hasPrefix("second") }.map { second in
            [second.name] + second.dependencies.map { trace.operations[$0].name }
        }
        #expect(Set(arrows) == Set((0..<50).map { ["second \($0)", "first \($0)"] }))
    }

    @Test("events older than half a second are in the file, which can be opened while recording continues")
    func crash() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url)
        let queue = TaskOperationQueue(name: "work")
        queue.addObserver(recorder)
        for _ in 0..<10 { try await queue.addOperation {}.value }
        #expect(await eventually { (try? Trace(contentsOf: url))?.operations.count == 10 })
        let trace = try Trace(contentsOf: url)
        #expect(!trace.isComplete)
        #expect(try TraceValidator(url).faults == [])
        queue.removeObserver(recorder)
    }

    @Test("a file that is full is moved aside, and both can be read")
    func rotation() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url, maximumFileSize: 100_000)
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 2)
        queue.addObserver(recorder)
        for number in 0..<2000 { queue.addOperation(name: "number \(number)") {} }
        try await queue.waitUntilAllOperationsAreFinished()
        queue.removeObserver(recorder)
        #expect(await eventually { recorder.written.events >= 6000 })
        try recorder.finish()
        for name in ["trace.json", "trace.json.1"] {
            let trace = try Trace(contentsOf: folder[name])
            #expect(!trace.operations.isEmpty && trace.isComplete && trace.queues.map(\.name) == ["work"])
            #expect(try TraceValidator(folder[name]).faults == [])
            let size = try FileManager.default.attributesOfItem(atPath: folder[name].path)[.size] as? Int
            #expect(try #require(size) < 101_000)
        }
    }

    @Test("a file that is full has room for the events of many queues, which have ended or have no further events")
    func manyQueues() async throws {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url, maximumFileSize: 100_000)
        let idle = (0..<1500).map { TaskOperationQueue(name: "idle \($0)") }
        for queue in idle {
            queue.addObserver(recorder)
            try await queue.addOperation {}.value
        }
        for number in 0..<1500 {
            let queue = TaskOperationQueue(name: "queue \(number)")
            queue.addObserver(recorder)
            try await queue.addOperation {}.value
        }
        #expect(await eventually { recorder.queueCount == idle.count }, "queues that have ended are forgotten")
        try recorder.finish()
        for name in ["trace.json", "trace.json.1"] {
            let trace = try Trace(contentsOf: folder[name])
            #expect(trace.isComplete && trace.queues.count <= trace.operations.count + 1)
            #expect(try TraceValidator(folder[name]).faults == [])
            let size = try FileManager.default.attributesOfItem(atPath: folder[name].path)[.size] as? Int
            #expect(try #require(size) < 101_000)
        }
        #expect(try Trace(contentsOf: folder["trace.json.1"]).operations.count > 80)
    }

    @Test("events after the end are not recorded")
    func afterTheEnd() async throws {
        let recorder = try TraceRecorder(writingTo: folder["trace.json"])
        let queue = TaskOperationQueue(name: "work")
        queue.addObserver(recorder)
        try await queue.addOperation {}.value
        try recorder.finish()
        let written = recorder.written
        for _ in 0..<10 { try await queue.addOperation {}.value }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.written.events == written.events && recorder.queueCount == 0)
    }

    @Test("a file that cannot be made is refused")
    func noFile() {
        #expect(throws: TraceError.self) { _ = try TraceRecorder(writingTo: folder["none/trace.json"]) }
    }
}
