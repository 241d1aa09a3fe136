import Observation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The latest operation of a screen", .endsInTime)
@MainActor
struct LatestOperationTests {
    /// A screen that shows the answer to its last query.
    @MainActor
    private final class Screen {
        let latest: LatestOperation
        private let pauses: Bool
        private(set) var shown: [String] = []
        private(set) var started: [String] = []

        init(
            settling pause: Duration = .zero, atMost longest: Duration? = nil,
            queue: TaskOperationQueue = TaskOperationQueue()
        ) {
            latest = LatestOperation(queue: queue, settling: pause, atMost: longest)
            pauses = pause > .zero
        }

        @discardableResult
        func search(_ query: String, takes time: Duration = .zero) -> TaskOperation<String> {
            latest.start {
                await self.note(query)
                // Ignores its cancellation.
                await Task { try? await Task.sleep(for: time) }.value
                return query
            } deliver: { [weak self] result in
                MainActor.assertIsolated()
                guard let self else { return }
                #expect(pauses || !latest.isRunning)
                shown.append((try? result.get()) ?? "failed")
            }
        }

        private func note(_ query: String) { started.append(query) }
    }

    @Test("Only the newest of several starts is delivered", .schedules(300))
    func newest() async throws {
        let screen = Screen()
        let queries = ["a", "ab", "abc"]
        let typing = Task { @MainActor in
            for query in queries {
                screen.search(query)
                #expect(screen.latest.isRunning)
                await Task.yield()
            }
        }
        await typing.value
        while screen.latest.isRunning { await Task.yield() }
        #expect(screen.shown.last == "abc")
        #expect(screen.shown.filter { $0 == "abc" }.count == 1)
        #expect(!screen.shown.contains("failed"))
    }

    @Test("An older answer that arrives later is not delivered", .schedules(300))
    func olderAnswer() async throws {
        let screen = Screen()
        let older = screen.search("slow", takes: .milliseconds(20))
        await Task.yield()
        let newer = screen.search("fast", takes: .milliseconds(10))
        _ = await (older.result, newer.result)
        while screen.latest.isRunning { await Task.yield() }
        try await Task.sleep(for: .seconds(1))
        #expect(screen.shown == ["fast"])
    }

    @Test("Nothing is delivered after cancel(), whenever it is called", .schedules(500))
    func cancelled() async throws {
        let screen = Screen()
        let operation = screen.search("a")
        let closing = Task { @MainActor in
            screen.latest.cancel()
            return screen.shown
        }
        let shown = await closing.value
        #expect(!screen.latest.isRunning)
        _ = await operation.result
        try await Task.sleep(for: .seconds(1))
        #expect(screen.shown == shown, "An answer was delivered after the cancellation.")
    }

    @Test("The operation starts after a pause without another start", .schedules(100))
    func settling() async throws {
        let screen = Screen(settling: .milliseconds(300))
        for query in ["a", "ab", "abc"] {
            screen.search(query)
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(screen.started == [])
        #expect(screen.latest.isRunning)
        try await Task.sleep(for: .milliseconds(200))
        #expect(screen.started == ["abc"])
        #expect(screen.shown == ["abc"])
        #expect(!screen.latest.isRunning)
    }

    @Test("An operation continues while the input changes, and shows its answer", .schedules(100))
    func answersWhileTyping() async throws {
        let screen = Screen(settling: .milliseconds(300), atMost: .seconds(1))
        for number in 1...40 {
            screen.search("\(number)", takes: .milliseconds(200))
            try await Task.sleep(for: .milliseconds(100))
        }
        try await Task.sleep(for: .seconds(2))
        #expect(screen.started.count >= 4 && screen.started.last == "40")
        #expect(screen.shown == screen.started)
    }

    @Test("The end of the pause cancels the older operation, which shows nothing then", .schedules(200))
    func slowAnswerWhileTyping() async throws {
        let screen = Screen(settling: .milliseconds(300))
        screen.search("slow", takes: .seconds(10))
        screen.latest.flush()
        while screen.started.isEmpty { await Task.yield() }
        let newer = screen.search("newer", takes: .milliseconds(50))
        screen.search("newest", takes: .milliseconds(50))
        #expect(newer.isCancelled)
        try await Task.sleep(for: .seconds(20))
        #expect(screen.started == ["slow", "newest"] && screen.shown == ["newest"])
    }

    @Test("An answer that arrives at the end of the pause is never shown as a cancellation", .schedules(300))
    func answerAtEndOfPause() async throws {
        let screen = Screen(settling: .milliseconds(300))
        screen.search("older", takes: .milliseconds(300))
        screen.latest.flush()
        while screen.started.isEmpty { await Task.yield() }
        screen.search("newer")
        try await Task.sleep(for: .seconds(2))
        #expect(screen.shown == ["newer"] || screen.shown == ["older", "newer"])
    }

    @Test("cancel() and the release of the object reach both operations", .schedules(100), arguments: [true, false])
    func bothCancelled(isReleased: Bool) async throws {
        var latest: LatestOperation? = LatestOperation(settling: .milliseconds(300))
        let (shown, begun) = (Recorder<String>(), Gate())
        let older = latest!.start {
            begun.open()
            try? await Task.sleep(for: .seconds(10))
        } deliver: { _ in
            shown.record("older")
        }
        latest!.flush()
        await begun.pass()
        let newer = latest!.start {
        } deliver: { _ in
            shown.record("newer")
        }
        #expect(!older.isCancelled)
        if isReleased { latest = nil } else { latest!.cancel() }
        #expect(older.isCancelled && newer.isCancelled)
        try await Task.sleep(for: .seconds(20))
        #expect(shown.events == [])
    }

    @Test("flush() ends the pause", .schedules(100))
    func flush() async throws {
        let screen = Screen(settling: .seconds(3600))
        screen.latest.flush()
        let start = ContinuousClock.now
        screen.search("a")
        screen.latest.flush()
        while screen.latest.isRunning { await Task.yield() }
        #expect(screen.shown == ["a"])
        #expect(ContinuousClock.now - start < .seconds(1))
        screen.latest.flush()
    }

    @Test("An operation that is cancelled by its queue is delivered as a cancellation", .schedules(100))
    func cancelledByQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let screen = Screen(settling: .seconds(1), queue: queue)
        screen.search("a")
        queue.cancelAllOperations()
        while screen.latest.isRunning { await Task.yield() }
        #expect(screen.shown == ["failed"])
    }

    @Test("With a width of 1, a body begins after the end of the cancelled one", .schedules(200))
    func width() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let latest = LatestOperation(queue: queue)
        let meter = ConcurrencyMeter()
        var operations: [TaskOperation<Void>] = []
        for _ in 0..<3 {
            operations.append(
                latest.start {
                    await meter.measure { await Task.yield() }
                } deliver: { _ in
                })
            await Task.yield()
        }
        for operation in operations { _ = await operation.result }
        #expect(meter.most <= 1)
    }

    @Test("isRunning is observable, and does not change while an operation replaces another one")
    func observable() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let latest = LatestOperation(queue: queue)
        let changes = Recorder<Void>()
        func observe() {
            withObservationTracking {
                _ = latest.isRunning
            } onChange: {
                changes.record(())
            }
        }
        observe()
        latest.start {
            1
        } deliver: { _ in
        }
        #expect(changes.events.count == 1)
        observe()
        latest.start {
            2
        } deliver: { _ in
        }
        #expect(changes.events.count == 1)
        latest.cancel()
        #expect(changes.events.count == 2)
        #expect(!latest.isRunning)
        queue.isSuspended = false
    }

    @Test("An observer may start an operation while another one is cancelled")
    func reentrantObserver() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let latest = LatestOperation(queue: queue)
        latest.start {
            1
        } deliver: { _ in
        }
        withObservationTracking {
            _ = latest.isRunning
        } onChange: {
            MainActor.assumeIsolated {
                _ = latest.start {
                    2
                } deliver: { _ in
                }
            }
        }
        latest.cancel()
        #expect(latest.isRunning)
        #expect(queue.operationCount == 1)
        latest.cancel()
        #expect(!latest.isRunning)
    }

    @Test("The release of a body may call the object")
    func releaseOfBody() async throws {
        @MainActor final class Caller: Sendable {
            let latest: LatestOperation
            init(_ latest: LatestOperation) { self.latest = latest }
            deinit {
                // Only this test releases bodies, on the main actor.
                MainActor.assumeIsolated { latest.flush() }
            }
        }
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let latest = LatestOperation(queue: queue, settling: .seconds(1))
        for _ in 0..<3 {
            let caller = Caller(latest)
            latest.start { @MainActor in
                _ = caller
            } deliver: { _ in
            }
        }
        latest.cancel()
    }

    @Test("The release of the object cancels its operation, also in its pause")
    func released() async throws {
        for pause in [Duration.zero, .seconds(Int.max)] {
            let (queue, freed) = (TaskOperationQueue(.init(isSuspended: true)), Gate())
            var latest: LatestOperation? = LatestOperation(queue: queue, settling: pause)
            let operation = latest!.start { [witness = Witness(freed)] in
                withExtendedLifetime(witness) {}
            } deliver: { _ in
                Issue.record("An operation of a released object was delivered.")
            }
            #expect(queue.operationCount == 1)
            latest = nil
            #expect(operation.isCancelled)
            await freed.pass()
            _ = await operation.result
            #expect(queue.operationCount == 0)
        }
    }

    @Test("Negative and immense pauses work", arguments: [Duration.seconds(-1), .zero, .seconds(Int64.max)])
    func durations(pause: Duration) async throws {
        let screen = Screen(settling: pause)
        screen.search("a")
        screen.latest.flush()
        while screen.latest.isRunning { await Task.yield() }
        #expect(screen.shown == ["a"])
    }

    @Test("Starts take linear time, and leave nothing behind")
    func many() async throws {
        let queue = TaskOperationQueue()
        let latest = LatestOperation(queue: queue, settling: .seconds(3600))
        let freed = Gate()
        for number in 0..<tensOfThousands {
            latest.start { [witness = number == 0 ? Witness(freed) : nil] in
                withExtendedLifetime(witness) {}
            } deliver: { _ in
            }
        }
        #expect(queue.operationCount == 1)
        latest.cancel()
        await freed.pass()
        #expect(queue.operationCount == 0)
    }
}
