#if os(Linux) || os(macOS)
    import Foundation
    import TaskOperations
    import TaskOperationsDiagnosis
    import TaskOperationsTesting
    import TestSupport
    import Testing

    /// Each test of all queues runs in a separate process, because other tests have queues that stall.
    @Suite("Flight recorders that keep what led to a fault", .prompt, .endsInTime)
    struct RecorderTriggerTests {
        private let folder: TraceFolder

        init() throws { folder = try TraceFolder() }

        @Test("a timeout writes the file, which has the operation that took too long")
        func timeout() async throws {
            let (queue, saved) = (TaskOperationQueue(name: "queue"), Recorder<FlightRecorder.Trigger>())
            let recorder = FlightRecorder(of: [queue])
            recorder.keep(at: folder["kept"], on: [.timeout]) { saved.record($0) }
            try await queue.addOperation(name: "good") {}.value
            let late = queue.addOperation(name: "late", .timeout(perAttempt: .milliseconds(1))) {
                await untilCancelled()
                throw CancellationError()
            }
            _ = await late.result
            await until { saved.events == [.timeout] }
            let trace = try Trace(contentsOf: folder["kept"])
            #expect(trace.operations.map(\.outcome) == [.succeeded, .timedOut] && !trace.isComplete)
            recorder.stop()
        }

        @Test("timeouts go on to write the file of a recorder to which the program keeps no reference")
        func released() async {
            await #expect(processExitsWith: .success) {
                let folder = try TraceFolder()
                // The thread that looks for timeouts may begin after some of them.
                for _ in 0..<20 {
                    let (queue, saved) = (TaskOperationQueue(name: "queue"), Gate())
                    FlightRecorder(of: [queue]).keep(at: folder["kept"], on: [.timeout]) { _ in saved.open() }
                    let late = queue.addOperation(name: "late", .timeout(.zero)) {
                        await untilCancelled()
                        throw CancellationError()
                    }
                    _ = await late.result
                    await saved.pass()
                    #expect(try Trace(contentsOf: folder["kept"]).operations.map(\.outcome) == [.timedOut])
                }
            }
        }

        @Test("a stall writes the file, which has the body that does not end")
        func stall() async {
            await #expect(processExitsWith: .success) {
                let (folder, saved, gate) = (try TraceFolder(), Recorder<FlightRecorder.Trigger>(), Gate())
                let (queue, suspended) = (TaskOperationQueue(name: "queue"), TaskOperationQueue(name: "suspended"))
                let recorder = FlightRecorder()
                suspended.isSuspended = true
                suspended.addOperation {}
                recorder.keep(at: folder["kept"], on: [.stall(.milliseconds(300)), .timeout]) { saved.record($0) }
                for _ in 0..<20 {
                    try await queue.addOperation { try await Task.sleep(for: .milliseconds(50)) }.value
                }
                #expect(saved.events == [], "operations ended all the time")
                try await Task.sleep(for: .milliseconds(700))
                #expect(saved.events == [], "a suspended queue is no stall")
                queue.addOperation(name: "hangs") { await gate.pass() }
                await until { saved.events == [.stall(.milliseconds(300))] }
                let trace = try Trace(contentsOf: folder["kept"])
                let hanging = trace.operations.filter { $0.outcome == .unfinished }
                #expect(hanging.map(\.name) == ["hangs"] && hanging[0].executed >= 0.3)
                recorder.stop()
                try FileManager.default.removeItem(atPath: folder["kept"])
                try await Task.sleep(for: .milliseconds(700))
                #expect(!FileManager.default.fileExists(atPath: folder["kept"]), "it was stopped")
                gate.open()
            }
        }

        @Test("SIGTERM writes the file, and then ends the process as before", arguments: [SIGTERM, SIGUSR1, SIGABRT])
        func signal(signal: Int32) async throws {
            let path = folder["kept"]
            await #expect(processExitsWith: .signal(signal)) { [path = path as String, signal] in
                let (queue, gate) = (TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1), Gate())
                let recorder = FlightRecorder()
                recorder.keep(at: path + ".former", on: [.signal(signal)])
                recorder.keep(at: path, on: [.signal(signal)])
                for number in 0..<10 { try await queue.addOperation(name: "\(number)") {}.value }
                queue.addOperation(name: "hangs") { await gate.pass() }
                await gate.waitForArrivals(1)
                queue.addOperation(name: "waits") {}
                // An event of the queue records what is in its inbox.
                queue.maxConcurrentOperationCount = 1
                kill(getpid(), signal)
                while true { pause() }
            }
            let trace = try Trace(contentsOf: path)
            #expect(trace.operations.map(\.name) == (0..<10).map { "\($0)" } + ["hangs"])
            #expect(trace.operations.last?.outcome == .unfinished && !trace.isComplete)
            #expect(trace.waiting.map(\.name) == ["waits"] && trace.waiting.map(\.reasons) == [[.permit]])
            #expect(!FileManager.default.fileExists(atPath: path + ".former"))
        }

        @Test("a signal that arrives while all threads record writes a file that can be read")
        func signalInLoad() async throws {
            let path = folder["kept"]
            await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
                let queues = (0..<4).map { TaskOperationQueue(name: "load \($0)", maxConcurrentOperationCount: 4) }
                let (recorder, gate) = (FlightRecorder(capacity: FlightRecorder.minimumCapacity), Gate())
                recorder.keep(at: path, on: [.signal(SIGTERM)])
                queues[0].addOperation(name: "hangs") { await gate.pass() }
                await gate.waitForArrivals(1)
                Thread.detachNewThread {
                    usleep(100_000)
                    kill(getpid(), SIGTERM)
                }
                await RecordedLoad(queues, threads: 8).run(80_000_000)
            }
            let trace = try Trace(contentsOf: path)
            #expect(trace.faults == [] && trace.operations.contains { $0.name == "hangs" && $0.outcome == .unfinished })
        }
    }
#endif
