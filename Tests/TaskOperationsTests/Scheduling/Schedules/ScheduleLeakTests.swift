import TaskOperationsTesting
import TestSupport
import Testing

/// A program whose body passes, and leaves a task that never ends.
private struct Leak: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (_ isMended: Bool) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (_ isMended: Bool) async throws -> Void) {
        (testDescription, self.run) = (name, run)
    }
}

@Suite("Tasks that never end", .prompt, .endsInTime)
struct ScheduleLeakTests {
    private static func schedules(
        _ count: Int = isDeep ? 20_000 : 1_000, _ leaks: ScheduleLeaks = .fail, faults: ScheduleFaults = []
    ) -> Schedules {
        var schedules = Schedules(count)
        (schedules.leaks, schedules.faults, schedules.patience) = (leaks, faults, .zero)
        return schedules
    }

    @Test("A task that never ends is a failure, and is named", .enabled(if: isLinux), arguments: Leak.all)
    fileprivate func leak(_ program: Leak) throws {
        let found = try #require(failure(of: Self.schedules()) { try await program.run(false) })
        guard case .leaked = found.cause else {
            Issue.record(found)
            return
        }
        var again = Schedules(only: found.schedule)
        again.leaks = .fail
        #expect(failure(of: again) { try await program.run(false) } != nil)
        #expect(found.description.contains("leaves tasks that never end"))
        #expect(found.description.contains("ScheduleLeakTests.swift"))
    }

    @Test("Tasks that end later are none", arguments: Leak.all)
    fileprivate func mended(_ program: Leak) throws {
        #expect(throws: Never.self) { try Self.schedules().run { try await program.run(true) } }
    }

    @Test("The usual order leaves a task: the summary names it", .enabled(if: isLinux))
    func note() throws {
        let runs = Recorder<Int>()
        @Sendable func run(isMended: Bool) async throws {
            runs.record(1)
            try await Leak.all[0].run(isMended)
        }
        #expect(try Self.schedules(20, .note).run { try await run(isMended: true) }.notes == [])
        #expect(runs.events.count == 20)
        let notes = try Self.schedules(20, .note).run { try await run(isMended: false) }.notes
        #expect(notes.count == 1)
        #expect(notes.first?.contains("The body leaves tasks that never end. ") == true)
    }

    @Test("The memory of a task that has ended is no task", .schedules(leaks: .fail))
    func ended() async {
        for _ in 0..<5 {
            let tasks = (0..<5).map { number in Task { number } }
            for task in tasks { _ = await task.value }
        }
    }
}

extension Leak {
    static let all = [
        Self("a stream that nobody finishes") { isMended in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let sum = Total()
            let reader = Task {
                for await number in stream { await sum.add(number) }
            }
            continuation.yield(1)
            if isMended { continuation.finish() }
            holder.keep(continuation)
            _ = reader
        },
        Self("a poll that nobody cancels") { isMended in
            let poll = Task {
                while !Task.isCancelled { try await Task.sleep(for: .seconds(1)) }
            }
            await Task.yield()
            if isMended { poll.cancel() }
        },
        Self("a model whose task keeps the model") { isMended in
            let model = Model()
            await model.start(isMended: isMended)
        },
        Self("a waiter that comes after the door was closed") { isMended in
            let door = Door(isMended: isMended)
            Task { await door.wait() }
            await Task.yield()
            await door.open()
        },
        Self("a subscription that begins after its end") { isMended in
            let bus = Bus(isMended: isMended)
            Task { await bus.listen(as: 1) }
            await Task.yield()
            await bus.remove(1)
        },
        Self("a permit that is lost with an error") { isMended in
            let permits = OnePermit()
            let save = Task {
                await permits.take()
                await Task.yield()
                if isMended {
                    await permits.give()
                    throw CancellationError()
                }
                try Task.checkCancellation()
                await permits.give()
            }
            Task {
                await permits.take()
                await permits.give()
            }
            await Task.yield()
            save.cancel()
        },
    ]
}

/// Keeps continuations of streams, so that no release ends the streams.
private let holder = Holder()

private final class Holder: Sendable {
    private let kept = Recorder<AsyncStream<Int>.Continuation>()

    func keep(_ continuation: AsyncStream<Int>.Continuation) { kept.record(continuation) }
}

private actor Total {
    private var sum = 0

    func add(_ number: Int) { sum += number }
}

private actor Model {
    private let (values, continuation) = AsyncStream.makeStream(of: Int.self)
    private var last = 0

    deinit { continuation.finish() }

    func start(isMended: Bool) {
        let values = values
        if isMended {
            Task { [weak self] in
                for await value in values { await self?.note(value) }
            }
        } else {
            Task {
                for await value in values { note(value) }
            }
        }
    }

    private func note(_ value: Int) { last = value }
}

private actor Door {
    private let isMended: Bool
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(isMended: Bool) { self.isMended = isMended }

    func wait() async {
        if isOpen { return }
        if !isMended { await Task.yield() }
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

private actor Bus {
    private let isMended: Bool
    private var listeners: [Int: CheckedContinuation<Void, Never>] = [:]
    private var removed: Set<Int> = []

    init(isMended: Bool) { self.isMended = isMended }

    func listen(as number: Int) async {
        if removed.contains(number) { return }
        await withCheckedContinuation { listeners[number] = $0 }
    }

    func remove(_ number: Int) {
        if isMended { removed.insert(number) }
        listeners.removeValue(forKey: number)?.resume()
    }
}
