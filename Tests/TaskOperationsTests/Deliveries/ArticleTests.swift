import Distributed
import TaskOperations
import TaskOperationsDeliveries
import TaskOperationsTesting
import TestSupport
import Testing

/// The snippets of the article "Deliveries".
@Suite("Beyond one machine: the article's examples", .endsInTime)
struct ArticleTests {
    @Test("the first example, also of README.md", .schedules(20))
    func firstExample() async throws {
        struct Photo: Sendable { let id: Int }
        struct Unreadable: Error {}
        let (stored, reported) = (Recorder<Int>(), Recorder<Int>())
        @Sendable func thumbnail(of photo: Photo) throws -> Int {
            if photo.id == 2 { throw Unreadable() }
            return photo.id * 10
        }
        @Sendable func store(_ thumbnail: Int, as id: Int) async throws { stored.record(thumbnail) }
        @Sendable func report(_ id: Int, _ error: any Error) async { reported.record(id) }
        let engine = InMemoryEngine<Photo>(lease: .seconds(30))
        for id in 1...3 { engine.send(Photo(id: id)) }
        engine.finish()
        var configuration = ConsumerConfiguration()
        configuration.options.maxAttempts = 1

        let queue = TaskOperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
        await queue.consume(
            engine.deliveries(), configuration: configuration,
            onPoison: { delivery, error in await report(delivery.id, error) }
        ) { photo in
            try await store(thumbnail(of: photo), as: photo.id)
        }
        #expect(stored.events.sorted() == [10, 30])
        #expect(reported.events == [2])
    }

    @Test("the offline queue in ten lines")
    func offlineQueue() async throws {
        struct Edit: Codable, Sendable { let note: String, text: String }
        let (uploads, files) = (Recorder<String>(), JournalFolder())
        let failures = Recorder<String>()
        @Sendable func upload(_ edit: Edit) async throws {
            if failures.events.count < 7 {
                failures.record(edit.text)
                throw WorkFailed()
            }
            uploads.record(edit.text)
        }
        let folder = files.path

        let engine = try await JournalEngine<Edit>(
            directory: folder, configuration: JournalConfiguration(maxAttempts: .max))
        let queue = TaskOperationQueue(name: "sync", maxConcurrentOperationCount: 2)
        var configuration = ConsumerConfiguration()
        configuration.drainTime = .seconds(5)
        configuration.options.redelivery = .immediately(attempts: .max)
        queue.isSuspended = true
        let sync = Task { [configuration] in
            await queue.consume(engine.deliveries(), configuration: configuration) { try await upload($0) }
        }
        for text in ["first", "latest"] {
            let edit = Edit(note: "note", text: text)
            try await engine.enqueue(edit, options: EnqueueOptions(identity: edit.note, replaces: true))
        }
        #expect(engine.counts.waiting == 1 && uploads.events.isEmpty)
        queue.isSuspended = false
        while engine.counts.waiting + engine.counts.held > 0 { await Task.yield() }
        sync.cancel()
        await sync.value
        await engine.close()
        #expect(uploads.events == ["latest"] && failures.events.count == 7)
    }

    @Test("the offline queue sends all edits before its end")
    func offlineQueueAtItsEnd() async throws {
        struct Edit: Codable, Sendable { let note: String }
        let (uploads, files) = (Recorder<String>(), JournalFolder())
        let engine = try await JournalEngine<Edit>(
            directory: files.path, configuration: JournalConfiguration(maxAttempts: .max))
        for number in 0..<30 {
            try await engine.enqueue(Edit(note: "\(number)"), options: EnqueueOptions(identity: "\(number)"))
        }
        let queue = TaskOperationQueue(name: "sync", maxConcurrentOperationCount: 2)
        var configuration = ConsumerConfiguration()
        configuration.drainTime = .zero
        let sync = Task { [configuration] in
            await queue.consume(engine.deliveries(), configuration: configuration) { uploads.record($0.note) }
        }
        engine.finish()
        let limit = Task {
            try await Task.sleep(for: .seconds(300))
            sync.cancel()
        }
        await sync.value
        limit.cancel()
        #expect(engine.counts.waiting + engine.counts.held == 0 && uploads.events.count == 30)
        await engine.close()
    }

    @Test("a width for each destination: a kind has a limit of its own", .schedules(20))
    func destinations() async {
        let meter = Recorder<WorkEvent>()
        let engine = InMemoryEngine<String>(lease: .seconds(30), clock: ManualClock())
        for number in 0..<12 { engine.send(number.isMultiple(of: 2) ? "mail" : "other") }
        engine.finish()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 6)
        let mail = AsyncSemaphore(capacity: 2, name: "mail provider")
        await queue.consume(
            engine.deliveries(),
            optionsFor: { kind in
                var options = DeliveryOptions()
                if kind == "mail" { options.operation = .limit(mail) }
                return options
            }
        ) { kind in
            if kind == "mail" { await meter.run(kind) { await Task.yield() } }
        }
        meter.expectAtMost(2)
        #expect(engine.count == 0)
    }

    @Test("one stream for each priority on one queue: urgent deliveries are done first", .schedules(20))
    func priorities() async {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let clock = ManualClock()
        let order = Recorder<String>()
        let engines = [("bulk", TaskPriority.low), ("ordinary", .medium), ("urgent", .high)].map { name, priority in
            let engine = InMemoryEngine<String>(lease: .seconds(30), clock: clock)
            for _ in 0..<3 { engine.send(name) }
            engine.finish()
            return (engine, priority)
        }
        queue.isSuspended = true
        await withTaskGroup { group in
            for (stream, priority) in engines {
                var configuration = ConsumerConfiguration()
                configuration.clock = clock
                configuration.options.operation = .priority(priority)
                group.addTask { [configuration] in
                    await queue.consume(stream.deliveries(), configuration: configuration) { name in
                        order.record(name)
                        // Lets other consumers request their turns.
                        for _ in 0..<50 { await Task.yield() }
                    }
                }
            }
            for _ in 0..<100 { await Task.yield() }
            queue.isSuspended = false
        }
        #expect(order.events.count == 9)
        // A delivery that was pulled before a more urgent one arrived delays it, at most, until its own start.
        #expect(order.events.lastIndex(of: "urgent")! < order.events.lastIndex(of: "bulk")!)
    }

    @Test("a distributed actor whose work a queue admits")
    func distributedActor() async throws {
        let resizer = Resizer(actorSystem: LocalTestingDistributedActorSystem())
        let sizes = try await withThrowingTaskGroup { group in
            for size in 1...10 { group.addTask { try await resizer.resize(size) } }
            return try await group.reduce(0, +)
        }
        #expect(sizes == 110)
    }
}

private distributed actor Resizer {
    typealias ActorSystem = LocalTestingDistributedActorSystem

    private let queue = TaskOperationQueue(name: "resize", maxConcurrentOperationCount: 2)

    /// Callers wait until this machine has a free permit.
    distributed func resize(_ size: Int) async throws -> Int {
        try await queue.run { size * 2 }
    }
}
