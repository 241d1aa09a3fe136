import Foundation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesPorted

private struct Transient: Error {}
private struct Permanent: Error {}

private func sleepUntilCancelled() {
    while !Task.isCancelled { Thread.sleep(forTimeInterval: 0.005) }
}

@Suite("Programs", .endsInTime)
struct ProgramTests {
    @Test(
        "Each page is downloaded once, within the limits of its host, until the end, the maximum or the cancellation",
        .schedules(20))
    func crawler() async throws {
        @Sendable func url(_ number: Int) -> URL { URL(string: "http://host\(number % 3)/\(number)")! }
        let meter = ConcurrencyMeter()
        let downloads = Recorder<URL>()
        let found = try await crawl(from: url(0), isTransient: { $0 is Transient }) { page in
            try await meter.measure {
                downloads.record(page)
                let number = Int(page.lastPathComponent)!
                if number == 7 { throw Permanent() }
                if number == 5, RetryPolicy.attempt! < 3 { throw Transient() }
                await Task.yield()
                return Page(url: page, links: [2 * number + 1, 2 * number + 2, 0].filter { $0 < 20 }.map(url))
            }
        }
        #expect(found.pages.count == 17)
        #expect(Array(found.failures.keys) == [url(7).absoluteString])
        #expect(downloads.events.count == 18 + 2)
        #expect(meter.most <= 6)

        let limited = try await crawl(from: url(0), maxPageCount: 3, isTransient: { _ in false }) { page in
            let number = Int(page.lastPathComponent)!
            return Page(url: page, links: [url(number + 1), url(number + 2)])
        }
        #expect(limited.pages.count == 3 && limited.failures.isEmpty)

        let gate = Gate()
        let cancelled = Task {
            try await crawl(from: url(0), isTransient: { _ in true }) { page in
                if page == url(0) { return Page(url: page, links: [url(1)]) }
                gate.open()
                try await Task.sleep(for: .seconds(3600))
                throw Permanent()
            }
        }
        await gate.pass()
        cancelled.cancel()
        let rest = try await cancelled.value
        #expect(rest.pages.count == 1 && rest.failures.isEmpty)
    }

    @Test("Cells share downloads and decoded images, and the last cell to leave cancels the work", .schedules(20))
    @MainActor func images() async throws {
        let downloads = Recorder<String>()
        let decoding = ConcurrencyMeter()
        let gate = Gate()
        let cancelled = Gate()
        let loader = ImageLoader<Int>(
            download: { url in
                downloads.record(url.lastPathComponent)
                if url.lastPathComponent == "endless" {
                    do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled.open() }
                }
                await gate.pass()
                return Data(url.lastPathComponent.utf8)
            },
            decode: { data in
                await decoding.measure {
                    await Task.yield()
                    return data.count
                }
            })
        func url(_ name: String) -> URL { URL(string: "http://host/\(name)")! }
        let first = loader.request(url("a"), isVisible: true)
        let second = loader.request(url("a"), isVisible: true)
        let endless = loader.request(url("endless"), isVisible: true)
        let others = (1...10).map { loader.request(url("hidden\($0)"), isVisible: false) }
        let last = loader.request(url("visible"), isVisible: true)
        await gate.waitForArrivals(5)
        first.cancel()
        endless.cancel()
        await cancelled.pass()
        gate.open()
        #expect(try await second.value == 1)
        do {
            _ = try await first.value
            Issue.record("cancelled")
        } catch is CancellationError {}
        #expect(try await last.value == 7)
        for other in others { _ = try await other.value }
        #expect(downloads.events.count(where: { $0 == "a" }) == 1)
        #expect(downloads.events.firstIndex(of: "visible")! < downloads.events.firstIndex(of: "hidden10")!)
        #expect(decoding.most <= 2)
        #expect(try await loader.request(url("a"), isVisible: true).value == 1)
        #expect(downloads.events.count == 13)
    }

    @Test("A build passes outputs to dependents, and a failure stops only these", .schedules(20))
    func build() async throws {
        let targets = [
            BuildTarget(name: "app", dependencies: ["core", "ui"]), BuildTarget(name: "ui", dependencies: ["core"]),
            BuildTarget(name: "core", dependencies: []),
            BuildTarget(name: "broken", dependencies: ["core"]),
            BuildTarget(name: "tests", dependencies: ["broken", "app"]),
        ]
        let meter = ConcurrencyMeter()
        let result = try await buildAll(targets, maxConcurrentCount: 2) { (name, inputs: [String: String]) in
            try await meter.measure {
                await Task.yield()
                if name == "broken" { throw Permanent() }
                return "\(name)(\(inputs.keys.sorted().map { inputs[$0]! }.joined(separator: " ")))"
            }
        }
        #expect(result.outputs["app"] == "app(core() ui(core()))")
        #expect(Array(result.failures.keys) == ["broken"] && result.notBuilt == ["tests"])
        #expect(meter.most <= 2 && meter.total == 4)
        do {
            let cycle = [
                BuildTarget(name: "a", dependencies: ["b"]), BuildTarget(name: "b", dependencies: ["c"]),
                BuildTarget(name: "c", dependencies: ["a"]),
            ]
            _ = try await buildAll(cycle, maxConcurrentCount: 2) { name, _ in name }
            Issue.record("cycle")
        } catch TaskOperationError.dependencyCycle(let labels) {
            #expect(labels.first == labels.last && Set(labels.map(\.name)) == ["a", "b", "c"])
        }
    }

    @Test("Changes are uploaded in the order of each document, and a refresh runs alone", .schedules(20))
    func sync() async throws {
        let meter = ConcurrencyMeter()
        let order = Mutex<[Int: [Int]]>([:])
        let retry = RetryPolicy.exponential(initial: .milliseconds(1), attempts: 3)
        let service = SyncService<Int, Int>(retry: retry) { document, change in
            try await meter.measure {
                if change == 2, RetryPolicy.attempt == 1 { throw Transient() }
                order.withLock { $0[document, default: []].append(change) }
                await Task.yield()
            }
        }
        for change in 1...3 {
            for document in 1...6 { service.submit(change, of: document) }
        }
        let atRefresh = Recorder<[Int]>()
        try await service.refresh { atRefresh.record([meter.now, meter.total]) }
        #expect(atRefresh.events == [[0, 24]])
        #expect(order.withLock { $0.values.allSatisfy { $0 == [1, 2, 3] } })
        #expect(meter.most <= 4)
        service.isOnline = false
        let waiting = service.submit(4, of: 1)
        try await service.logOut()
        #expect(waiting.isCancelled && meter.total == 24)
    }

    @Test("Tenants share the workers and the memory, and waiting jobs are bounded", .schedules(20))
    func tenants() async throws {
        let service = JobService<String>(mebibytes: 100)
        let gate = Gate()
        let meters = ["a": ConcurrencyMeter(), "b": ConcurrencyMeter(), "c": ConcurrencyMeter()]
        func add(_ tenant: String, _ size: Int) -> TaskOperation<Void> {
            service.add(for: tenant, mebibytes: size) { await meters[tenant]!.measure { await gate.pass() } }
        }
        var jobs = (1...500).map { _ in add("a", 1) }
        for tenant in ["b", "c"] { jobs += (1...254).map { _ in add(tenant, 1) } }
        await gate.waitForArrivals(8)
        let refused = (1...10).map { _ in add("a", 1) }
        #expect(service.counts(of: "a") == (497, 3))
        #expect(service.counts(of: "c").waiting + service.counts(of: "b").waiting == 503)
        if case TaskOperationError.queueFull? = refused.last?.failure {} else { Issue.record("full") }
        service.cancelJobs(of: "b")
        gate.open()
        for job in jobs { _ = await job.result }
        #expect(meters.values.allSatisfy { $0.most <= 3 })
        #expect(meters["b"]!.total <= 3 && meters["a"]!.total == 500)
        #expect(jobs.count(where: { $0.failure != nil }) >= 251)
        let large = service.add(for: "a", mebibytes: 101) {}
        let error = await #expect(throws: TaskOperationError.self) { try await large.value }
        guard case .weightExceedsCapacity? = error else {
            Issue.record("the outcome differs")
            return
        }
        #expect(service.counts(of: "a") == (0, 0))
    }

    @Test("Reads are parallel, writes are ordered on one thread, and slow queries fail")
    func database() async throws {
        final class Connection { var log: [String] = [] }
        let threads = Mutex<Set<String>>([])
        let reads = ConcurrencyMeter()
        let database = DatabaseClient<Int, Connection>(
            reader: 7, limit: .seconds(3600), open: { Connection() },
            execute: { connection, statement in
                threads.withLock { _ = $0.insert("\(Thread.current)") }
                connection.log.append(statement)
            })
        let impatient = DatabaseClient<Int, Connection>(
            reader: 7, limit: .milliseconds(100), open: { Connection() },
            execute: { connection, statement in connection.log.append(statement) })
        let values = (1...8).map { number in
            database.read("read \(number)") { reader in
                reads.enter()
                defer { reads.leave() }
                Thread.sleep(forTimeInterval: 0.005)
                return reader * number
            }
        }
        let writes = (1...5).map { number in
            database.write("write \(number)") { connection in
                #expect(reads.now == 0)
                connection.log.append("write \(number)")
            }
        }
        let transaction = database.transaction("two") { connection in
            connection.log.append("one")
            connection.log.append("two")
            return connection.log.count
        }
        let failing = database.transaction("failing") { _ in throw Permanent() }
        let slow = impatient.read("slow") { _ in sleepUntilCancelled() }
        let slowTransaction = impatient.transaction("slow transaction") { _ in sleepUntilCancelled() }
        for (number, value) in values.enumerated() { #expect(try await value.value == 7 * (number + 1)) }
        for write in writes { try await write.value }
        #expect(try await transaction.value == 8)
        await #expect(throws: Permanent.self) { try await failing.value }
        await #expect(throws: TaskOperationError.self) { try await slow.value }
        await #expect(throws: TaskOperationError.self) { try await slowTransaction.value }
        let log = try await database.write("log") { $0.log }.value
        #expect(
            log == (1...5).map { "write \($0)" } + ["BEGIN", "one", "two", "COMMIT"] + ["BEGIN", "ROLLBACK"])
        #expect(threads.withLock { $0.count } == 1 && reads.most <= 4)
    }

    @Test("Results have the order of the inputs, and an error ends everything")
    func map() async throws {
        let meter = ConcurrencyMeter()
        let progress = Recorder<Int>()
        let results = try await transformAll(Array(0..<10_000), progress: { done, _ in progress.record(done) }) {
            input in
            await meter.measure { input * 2 }
        }
        #expect(results == (0..<10_000).map { $0 * 2 } && meter.most <= 8)
        #expect(progress.events == Array(1...10_000))
        do {
            _ = try await transformAll(Array(0..<10_000), progress: { _, _ in }) { input in
                await meter.measure {}
                if input == 20 { throw Permanent() }
                try await Task.sleep(for: .milliseconds(1))
            }
            Issue.record("error")
        } catch is Permanent {}
        #expect(meter.total < 10_100)

        let (taken, finished) = (Recorder<Int>(), Recorder<Int>())
        let inputs = AsyncStream<Int>(unfolding: {
            taken.record(taken.events.count)
            #expect(taken.events.count - finished.events.count <= 8)
            return taken.events.count <= 100 ? taken.events.count : nil
        })
        let most = Mutex(0)
        let outputs = try await transformAll(inputs, progress: { _ in }) { input in
            most.withLock { $0 = max($0, taken.events.count - finished.events.count) }
            await Task.yield()
            finished.record(input)
            return input
        }
        #expect(outputs == Array(1...100))
        #expect(most.withLock { $0 } <= 8)
    }

    @Test("The first answer counts, and a mirror that fails is left alone")
    func hedging() async throws {
        let clock = ManualClock()
        let calls = Recorder<String>()
        let (slow, cancelled) = (Gate(), Gate())
        let client = MirrorClient<Int, String>(mirrors: ["a", "b", "c"], clock: clock) { mirror, request in
            calls.record("\(mirror)\(request)")
            if request < 3, mirror == "a" { throw Transient() }
            if request == 3, mirror == "a" { throw Transient() }
            if request == 9, mirror == "b" {
                slow.open()
                do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled.open() }
            }
            return mirror
        }
        for request in 1...4 { #expect(try await client.response(to: request) == "b") }
        #expect(calls.events == ["a1", "b1", "a2", "b2", "a3", "b3", "b4"])
        async let hedged = client.response(to: 9)
        await slow.pass()
        while calls.events.last != "c9" {
            if clock.sleeperCount > 0, clock.now.offset < .seconds(5) { clock.advance(by: .milliseconds(50)) }
            await Task.yield()
        }
        #expect(try await hedged == "c")
        await cancelled.pass()
        clock.advance(by: .seconds(10))
        #expect(try await client.response(to: 10) == "a")
    }

    @Test("Only the newest text is searched", .schedules(20))
    @MainActor func screen() async throws {
        let searches = Recorder<String>()
        let screen = SearchScreen { text in
            searches.record(text)
            return [text]
        }
        screen.textChanged(to: "a")
        screen.textChanged(to: "ab")
        #expect(screen.isSearching)
        screen.returnPressed()
        while screen.isSearching { await Task.yield() }
        #expect(screen.hits == ["ab"] && searches.events == ["ab"])
        screen.textChanged(to: "abc")
        screen.leave()
        #expect(!screen.isSearching && screen.hits == ["ab"])
    }
}

@Suite("A synchronization under schedules", .schedules(200), .endsInTime)
struct SyncScheduleTests {
    /// The pauses of 1 and 2 seconds pass in virtual time. The second change waits for the last attempt of the first.
    @Test("A retry backs off and keeps the order")
    func backOff() async throws {
        let attempts = Recorder<String>()
        let sync = SyncService<String, Int>(retry: .exponential(initial: .seconds(1), attempts: 5)) {
            document, change in
            attempts.record("\(document)\(change)")
            if change == 1, RetryPolicy.attempt! < 3 { throw Transient() }
        }
        let start = ContinuousClock.now
        sync.submit(1, of: "a")
        try await sync.submit(2, of: "a").value
        #expect(ContinuousClock.now - start == .seconds(3))
        #expect(attempts.events == ["a1", "a1", "a1", "a2"])
    }

    @Test("A cancelled change keeps the order of the others")
    func cancelledChange() async throws {
        let work = Recorder<WorkEvent>()
        let sync = SyncService<String, Int> { _, change in
            await work.run("\(change)") { await Task.yield() }
        }
        sync.submit(1, of: "a")
        sync.submit(2, of: "a").cancel()
        try await sync.submit(3, of: "a").value
        #expect(work.finished.last == "3")
        #expect(work.mostAtOnce == 1)
    }

    @Test("No upload runs during a refresh")
    func refresh() async throws {
        let work = Recorder<WorkEvent>()
        let sync = SyncService<Int, Int> { document, _ in
            await work.run("upload \(document)") { await Task.yield() }
        }
        sync.submit(1, of: 1)
        sync.submit(1, of: 2)
        async let refresh: Void = sync.refresh { await work.run("refresh") { await Task.yield() } }
        sync.submit(2, of: 1)
        try await sync.submit(2, of: 2).value
        try await refresh
        let place = try #require(work.events.firstIndex(of: .started("refresh")))
        #expect(work.events[place + 1] == .finished("refresh"))
        let before = work.events[..<place]
        #expect(before.count(where: \.isStart) * 2 == before.count)
    }

    @Test("No attempt starts without a network")
    func offline() async throws {
        let attempts = Recorder<Int>()
        let sync = SyncService<String, Int>(retry: .exponential(initial: .seconds(1), attempts: 5)) { _, _ in
            attempts.record(RetryPolicy.attempt!)
            if RetryPolicy.attempt == 1 { throw Transient() }
        }
        let upload = sync.submit(1, of: "a")
        try await Task.sleep(for: .milliseconds(500))
        sync.isOnline = false
        let other = sync.submit(1, of: "b")
        try await Task.sleep(for: .seconds(3600))
        #expect(attempts.events == [1])
        sync.isOnline = true
        try await upload.value
        try await other.value
        #expect(attempts.events.count == 4)
    }

    @Test("Nothing runs after the logout")
    func logout() async throws {
        let meter = ConcurrencyMeter()
        let sync = SyncService<Int, Int> { _, _ in
            await meter.measure { await sleepRegardlessOfCancellation(.seconds(5)) }
        }
        for document in 1...6 { sync.submit(1, of: document) }
        try await Task.sleep(for: .seconds(1))
        try await sync.logOut()
        #expect((meter.now, meter.most, meter.total) == (0, 4, 4))
        await #expect(throws: TaskOperationError.self) { try await sync.submit(2, of: 1).value }
    }
}

@MainActor @Suite("A search screen under schedules", .schedules(200), .endsInTime)
struct SearchScreenTests {
    /// Both searches end at the same time, in any order.
    @Test("A stale result is not shown")
    func stale() async throws {
        let screen = SearchScreen { text in
            await sleepRegardlessOfCancellation(.seconds(text == "a" ? 2 : 1))
            return [text]
        }
        screen.textChanged(to: "a")
        try await Task.sleep(for: .seconds(1))
        screen.textChanged(to: "ab")
        while screen.isSearching {
            #expect(screen.hits == [])
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(screen.hits == ["ab"])
        try await Task.sleep(for: .seconds(10))
        #expect(screen.hits == ["ab"])
    }

    @Test("A search starts after a pause or with return")
    func pause() async throws {
        let start = ContinuousClock.now
        let searches = Recorder<String>()
        let screen = SearchScreen { text in
            searches.record("\(text) after \(ContinuousClock.now - start)")
            return [text]
        }
        screen.textChanged(to: "a")
        screen.textChanged(to: "ab")
        #expect(screen.isSearching)
        try await Task.sleep(for: .seconds(1))
        screen.textChanged(to: "abc")
        screen.returnPressed()
        try await Task.sleep(for: .seconds(1))
        #expect(searches.events == ["ab after \(Duration.seconds(0.3))", "abc after \(Duration.seconds(1))"])
        #expect(!screen.isSearching)
        #expect(screen.hits == ["abc"])
    }

    @Test("Leaving the screen cancels the search")
    func leaving() async throws {
        let cancelled = Recorder<Bool>()
        let screen = SearchScreen { text in
            await sleepRegardlessOfCancellation(.seconds(1))
            cancelled.record(Task.isCancelled)
            return [text]
        }
        screen.textChanged(to: "a")
        try await Task.sleep(for: .seconds(1))
        screen.leave()
        #expect(!screen.isSearching)
        try await Task.sleep(for: .seconds(10))
        #expect(cancelled.events == [true])
        #expect(screen.hits == [])
    }
}

private func sleepRegardlessOfCancellation(_ duration: Duration) async {
    await Task { try? await Task.sleep(for: duration) }.value
}

extension WorkEvent {
    fileprivate var isStart: Bool {
        if case .started = self { true } else { false }
    }
}
