import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Decodes files while others load. At most four files load and two are decoded at once, so few wait in between.
private func thumbnails<Files: AsyncSequence<String, any Error> & Sendable>(
    of files: Files, load: @escaping @Sendable (String) async throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) async throws -> Int, store: (Int) async throws -> Void
) async throws where Files.AsyncIterator: SendableMetatype {
    let bytes = files.concurrentMap(maxConcurrentOperationCount: 4, load)
    for try await image in bytes.concurrentMap(maxConcurrentOperationCount: 2, decode) { try await store(image) }
}

/// Brings a local store up to date. The uploads follow all downloads. Both run at most three at a time, and a failed
/// transfer ends the synchronization.
private func synchronize(
    remote: [String], local: [String], download: @escaping @Sendable (String) async throws -> String,
    merge: @escaping @Sendable ([String]) async throws -> String,
    upload: @escaping @Sendable (String) async throws -> Void
) async throws {
    try await withTaskOperationQueue(name: "sync", maxConcurrentOperationCount: 3) { queue in
        let downloads = remote.map { name in
            queue.addOperation(name: name, .retry(.immediately(attempts: 2))) { try await download(name) }
        }
        let merged = queue.addOperation(after: downloads, body: merge)
        for name in local { queue.addOperation(after: merged) { try await upload(name + ": " + $0) } }
    }
}

/// A table that many readers can read at once. A writer has exclusive access.
private actor Table {
    private nonisolated let queue = TaskOperationQueue(name: "table")
    private var rows: [String: Int] = [:]

    nonisolated func read(_ key: String) async throws -> Int? { try await queue.run { await self.rows[key] } }

    nonisolated func transform(_ key: String, _ change: @escaping @Sendable (Int) async -> Int) -> TaskOperation<Void> {
        queue.addBarrier(name: "write \(key)") {
            let new = await change(self.rows[key] ?? 0)
            await self.set(key, new)
        }
    }

    private func set(_ key: String, _ value: Int) { rows[key] = value }
}

/// Returns the first answer of several mirrors. Each further mirror is asked after a further `patience` without an
/// answer.
private func firstAnswer(
    from mirrors: [String], patience: Duration, ask: @escaping @Sendable (String) async throws -> String
) async throws -> String? {
    let answers = TaskOperationResults<String>(on: TaskOperationQueue())
    for (index, mirror) in mirrors.enumerated() {
        answers.addOperation(.delay(patience * index)) { try await ask(mirror) }
    }
    defer { answers.cancelAllOperations() }
    for try await (_, result) in answers { if let answer = try? result.get() { return answer } }
    return nil
}

/// A screen that shows only the result of the latest search.
@MainActor
private final class SearchScreen {
    private(set) var shown: [String] = []
    private let queue = TaskOperationQueue(name: "search")
    private var search: TaskOperation<String>?
    /// The searches whose results arrived, whether or not they were shown.
    let arrived = Recorder<String>()

    func userTyped(_ text: String, find: @escaping @Sendable (String) async throws -> String) {
        search?.cancel()
        let search = queue.addOperation(name: text, .priority(.userInitiated)) { try await find(text) }
        self.search = search
        search.whenFinished { result in
            self.arrived.record(text)
            if search === self.search, let found = try? result.get() { self.shown.append(found) }
        }
    }
}

@Suite("Programs on the public interface", .endsInTime)
struct InterfaceProgramTests {
    @Test("a pipeline keeps the order and bounds the number of waiting elements between stages")
    func pipeline() async throws {
        let loading = Lock((now: 0, most: 0, all: 0))
        let (files, more) = AsyncThrowingStream<String, any Error>.makeStream()
        for number in 0..<60 { more.yield(String(repeating: "x", count: number)) }
        more.finish()
        var stored: [Int] = []
        try await thumbnails(of: files) { name in
            loading.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
            await Task.yield()
            loading.withLock { $0.now -= 1 }
            return Array(name.utf8)
        } decode: { bytes in
            bytes.count
        } store: { size in
            stored.append(size)
            let ahead = loading.withLock { $0.all } - stored.count
            #expect(ahead <= 4 + 2, "the stages hold as many as their widths")
        }
        #expect(stored == Array(0..<60))
        #expect(loading.withLock { $0.most } <= 4)
    }

    @Test("a synchronization uploads merged records, and ends with the first failure")
    func synchronization() async throws {
        let uploads = Recorder<String>()
        try await synchronize(remote: ["a", "b", "c"], local: ["x", "y"]) {
            $0.uppercased()
        } merge: {
            $0.joined()
        } upload: {
            uploads.record($0)
        }
        #expect(uploads.events.sorted() == ["x: ABC", "y: ABC"])
        await #expect(throws: WorkFailed.self) {
            try await synchronize(remote: ["a", "b"], local: ["x"]) { name in
                if name == "b" { throw WorkFailed() }
                return name
            } merge: {
                $0.joined()
            } upload: {
                uploads.record($0)
            }
        }
        #expect(uploads.events.count == 2)
    }

    @Test("a writer is alone, and later readers read its value")
    func table() async throws {
        let table = Table()
        for _ in 0..<100 { _ = table.transform("sum") { $0 + 1 } }
        let sums = try await (0..<20).concurrentMap { _ in try await table.read("sum") }
        #expect(sums == Array(repeating: 100, count: 20))
    }

    @Test("the first mirror that answers wins, and the others are cancelled")
    func mirrors() async throws {
        let answer = try await firstAnswer(from: ["slow", "broken", "quick"], patience: .milliseconds(1)) { mirror in
            switch mirror {
            case "slow": try await Task.sleep(for: .seconds(600))
            case "broken": throw WorkFailed()
            default: break
            }
            return mirror
        }
        #expect(answer == "quick")
    }

    @Test("a screen shows the latest search only")
    @MainActor
    func screen() async throws {
        let (screen, gate) = (SearchScreen(), Gate())
        screen.userTyped("o") { text in
            await gate.pass()
            return text
        }
        screen.userTyped("op") { $0 }
        #expect(await eventually { screen.arrived.events.contains("op") })
        gate.open()
        #expect(await eventually { screen.arrived.events.sorted() == ["o", "op"] })
        #expect(screen.shown == ["op"])
    }

    @Test("twelve backups of five minutes, two at a time, take half an hour of virtual time", .schedules(20))
    func virtualTime() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        for _ in 0..<12 { queue.addOperation { try await clock.sleep(for: .seconds(300)) } }
        for step in 0..<6 {
            await clock.waitForSleepers(2 * (step + 1))
            #expect(queue.operationCount == 12 - 2 * step)
            clock.advance(by: .seconds(300))
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(clock.now.offset == .seconds(1800))
    }
}
