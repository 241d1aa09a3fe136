#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization
    import TaskOperations
    import TaskOperationsDiagnosis
    import TaskOperationsTesting
    import TestSupport
    import Testing

    @Suite("Flight recorders that are read while many threads write", .prompt, .serialized, .endsInTime)
    struct RecorderStressTests {
        private let folder: TraceFolder
        private let count = isDeep ? 100_000 : 20_000

        init() throws { folder = try TraceFolder() }

        private static func makeQueues() -> [TaskOperationQueue] {
            (0..<4).map { TaskOperationQueue(name: "queue \($0)", maxConcurrentOperationCount: 4) }
        }

        private static func numbers(of queues: [TaskOperationQueue]) -> Set<UInt64> {
            Set(queues.map { UInt64($0.scheduler.queueNumber) })
        }

        // In a process of its own, whose memory and pool no other test uses.
        @Test("a thread that reads a ring of 4 MiB all the time sees no torn record, and operations in the right order")
        func readByThread() async throws {
            await #expect(processExitsWith: .success) { [path = folder["recording"] as String, count = count as Int] in
                let queues = RecorderStressTests.makeQueues()
                let recorder = try FlightRecorder(writingTo: path, of: queues)
                let hanging = Gate()
                queues[0].addOperation(name: "culprit") { await hanging.pass() }
                await hanging.waitForArrivals(1)
                let isOver = Atomic(false)
                let numbers = RecorderStressTests.numbers(of: queues)
                let memory = heapInUse
                // On a thread of its own, because the pool may have only two.
                async let reading: Void = onThreads(1) { _ in
                    var readings = 0
                    while !isOver.load(ordering: .relaxed) || readings == 0 {
                        let isDirect = readings.isMultiple(of: 2)
                        guard let trace = isDirect ? recorder.trace() : try? Trace(contentsOf: path),
                            let audit = try? RecordAudit(path, queues: numbers)
                        else {
                            Issue.record("the file cannot be read")
                            return
                        }
                        #expect(trace.faults == [])
                        #expect(trace.operations.contains { $0.name == "culprit" && $0.outcome == .unfinished })
                        #expect(audit.faults == [])
                        readings += 1
                    }
                }
                await RecordedLoad(queues, threads: 8, besides: 1).run(count)
                isOver.store(true, ordering: .relaxed)
                await reading
                hanging.open()
                for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
                recorder.stop()
                let trace = try Trace(contentsOf: path)
                #expect(trace.faults == [])
                #expect(trace.waiting == [] && trace.isComplete)
                #expect(trace.operations.allSatisfy { $0.outcome == .succeeded })
                #expect(trace.queues.map(\.name) == queues.map { $0.name })
                #expect(try RecordAudit(path, queues: numbers).faults == [])
                if let memory, let now = heapInUse {
                    #expect(now - memory < 64 << 20, "the ring and its readings are bounded")
                }
            }
        }

        @Test("a ring that is written many times over lets no other recorder write its queues again")
        func quietRecorder() async {
            await #expect(processExitsWith: .success) { [path = folder["recording"] as String] in
                let (busy, quiet) = (TaskOperationQueue(name: "busy"), TaskOperationQueue(name: "quiet"))
                let recorders = [busy, quiet].map { FlightRecorder(of: [$0], capacity: FlightRecorder.minimumCapacity) }
                let gate = Gate()
                quiet.addOperation(name: "held") { await gate.pass() }
                await gate.waitForArrivals(1)
                try recorders[1].write(to: path)
                let before = FileManager.default.contents(atPath: path)
                for _ in 0..<20_000 { busy.addOperation {} }
                try await busy.waitUntilAllOperationsAreFinished()
                try recorders[1].write(to: path)
                #expect(before != nil && FileManager.default.contents(atPath: path) == before)
                gate.open()
                for recorder in recorders { recorder.stop() }
            }
        }

        @Test("what hangs is in a ring that only new queues write")
        func newQueues() async {
            await #expect(processExitsWith: .success) {
                let recorder = FlightRecorder(capacity: FlightRecorder.minimumCapacity)
                let (queue, gate) = (TaskOperationQueue(name: "hangs"), Gate())
                queue.addOperation(name: "culprit") { await gate.pass() }
                await gate.waitForArrivals(1)
                let others = (0..<10_000).map { TaskOperationQueue(name: "\($0)") }
                #expect(recorder.trace().operations.map(\.name) == ["culprit"])
                recorder.stop()
                // A queue that is freed writes, too.
                withExtendedLifetime(others) {}
            }
        }

        @Test("another process that reads the file all the time sees no torn record, and operations in the right order")
        func readByProcess() async throws {
            let (path, queues) = (folder["recording"], Self.makeQueues())
            let recorder = try FlightRecorder(writingTo: path, of: queues)
            let isOver = Atomic(false)
            async let load: Void = {
                while !isOver.load(ordering: .relaxed) { await RecordedLoad(queues, threads: 8).run(count / 10) }
            }()
            await #expect(processExitsWith: .success) {
                [
                    path = path as String, numbers = Array(Self.numbers(of: queues)) as [UInt64],
                    readings = (isDeep ? 5 : 3) as Int
                ] in
                for _ in 0..<readings {
                    let trace = try Trace(contentsOf: path)
                    #expect(trace.faults == [])
                    #expect(!trace.isComplete && !trace.operations.isEmpty)
                    #expect(try RecordAudit(path, queues: Set(numbers)).faults == [])
                }
            }
            isOver.store(true, ordering: .relaxed)
            await load
            recorder.stop()
        }
    }

    extension RecorderStressTests {
        /// The faults that stop a program.
        enum Stall: String, CaseIterable, Codable {
            case body = "a body that never ends, on a queue of width 1"
            case limit = "an operation that keeps the only permit of a limit"
            case wait = "a body that awaits an operation of a suspended queue"
            case loss = "a dependency that was never added to a queue"

            /// Stops the operation "victim". Returns the queues, which must not be released, when they have recorded it.
            func plant() async -> [TaskOperationQueue] {
                let (queue, gate) = (TaskOperationQueue(name: "planted", maxConcurrentOperationCount: 1), Gate())
                let other = TaskOperationQueue(name: "other")
                switch self {
                case .body:
                    queue.addOperation(name: "culprit") { await gate.pass() }
                    await gate.waitForArrivals(1)
                    queue.addOperation(name: "victim") {}
                case .limit:
                    let disk = AsyncSemaphore(capacity: 1, name: "disk")
                    other.addOperation(name: "culprit", .limit(disk)) { await gate.pass() }
                    await gate.waitForArrivals(1)
                    queue.addOperation(name: "victim", .limit(disk)) {}
                case .wait:
                    other.isSuspended = true
                    let culprit = other.addOperation(name: "culprit") {}
                    queue.addOperation(name: "victim") { try await culprit.value }
                    await until { culprit.waiterCount == 1 }
                case .loss:
                    let culprit = TaskOperation(name: "culprit") {}
                    queue.addOperation(name: "awaiting") { try await culprit.value }
                    await until { culprit.waiterCount == 1 }
                    queue.addOperation(name: "victim", dependencies: [culprit]) {}
                }
                // An event of the queue records what is in its inbox.
                queue.maxConcurrentOperationCount = 1
                return [queue, other]
            }

            /// Whether the trace contains the cause.
            func isTold(by trace: Trace) -> Bool {
                let victim = trace.waiting.first { $0.name == "victim" }
                let culprit = trace.operations.first { $0.name == "culprit" }
                switch self {
                case .body: return victim?.reasons == [.permit] && culprit?.outcome == .unfinished
                case .limit: return victim?.reasons == [.limit("disk")] && culprit?.outcome == .unfinished
                case .wait:
                    let awaits = trace.operations.first { $0.name == "victim" }?.awaits
                    return awaits == ["culprit"]
                        && trace.waiting.contains { $0.name == "culprit" && $0.reasons == [.suspension] }
                case .loss:
                    let awaiting = trace.operations.first { $0.name == "awaiting" }
                    return awaiting?.awaits == [nil]
                        && victim?.reasons == [.dependency("an operation that was not added")]
                }
            }
        }

        @Test(
            "the file of a process that was killed at any moment has the cause of what was stopped",
            arguments: Stall.allCases)
        func killed(stall: Stall) async throws {
            for round in 0..<(isDeep ? 5 : 2) {
                let path = folder["\(round)"]
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [stall, path = path as String, round = round as Int] in
                    let recorder = try FlightRecorder(
                        writingTo: path, capacity: round.isMultiple(of: 2) ? 1 << 20 : 4 << 20)
                    let queues = (0..<4).map { TaskOperationQueue(name: "load \($0)", maxConcurrentOperationCount: 4) }
                    async let load: Void = RecordedLoad(queues, threads: 8).run(80_000_000)
                    let planted = await stall.plant()
                    Thread.detachNewThread {
                        usleep(.random(in: 0..<200_000))
                        kill(getpid(), SIGKILL)
                    }
                    await load
                    recorder.stop()
                    withExtendedLifetime(planted) {}
                }
                let trace = try Trace(contentsOf: path)
                #expect(trace.faults == [])
                #expect(!trace.isComplete)
                let isTold = stall.isTold(by: trace)
                #expect(isTold, "\(trace.explanation)")
            }
        }
    }
#endif
