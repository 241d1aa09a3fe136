import Foundation
import SourceAudit
import Synchronization
import TaskOperations
import TaskOperationsDeliveries

/// An edit of a note, which a server must receive.
struct Edit: Codable, Sendable {
    let note: Int
    let text: String
}

/// One run of an app that synchronizes edits: `workers sync --folder FOLDER --log FILE [--edits N]`.
///
/// The app is offline while the file `offline` exists beside the log.
struct SyncProcess {
    private let folder: String
    private let log: RunLog
    private let marker: String
    private let edits: Int

    init(_ options: Options) throws {
        folder = options["folder"] ?? "journal"
        let path = options["log"] ?? "sync.log"
        log = try RunLog(path)
        marker = "\(path).offline"
        edits = options.number("edits", or: 0)
    }

    func run() async throws {
        let engine = try await JournalEngine<Edit>(
            directory: folder, configuration: JournalConfiguration(maxAttempts: .max))
        let queue = TaskOperationQueue(name: "sync", maxConcurrentOperationCount: 2)
        var configuration = ConsumerConfiguration()
        configuration.drainTime = .seconds(5)
        let sync = Task { [configuration] in
            await queue.consume(engine.deliveries(), configuration: configuration) { try await upload($0) }
        }
        Termination.watch { sync.cancel() }
        let network = Task { await watchNetwork(queue, engine) }
        for number in 0..<edits {
            let edit = Edit(note: number, text: "text \(number)")
            try await engine.enqueue(edit, options: EnqueueOptions(identity: "note \(edit.note)", replaces: true))
            log.write("stored \(edit.note)")
        }
        await sync.value
        network.cancel()
        await engine.close()
        log.write("stopped - \(engine.counts.waiting)")
    }

    /// Suspends the queue while there is no network. A suspended queue pulls nothing.
    private func watchNetwork(_ queue: TaskOperationQueue, _ engine: JournalEngine<Edit>) async {
        while !Task.isCancelled {
            let isOffline = FileManager.default.fileExists(atPath: marker)
            if isOffline != queue.isSuspended {
                queue.isSuspended = isOffline
                if !isOffline { engine.retryFailed() }
                log.write(isOffline ? "offline" : "online")
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func upload(_ edit: Edit) async throws {
        log.write("start \(edit.note)")
        try await Task.sleep(for: .milliseconds(10))
        log.write("done \(edit.note)")
    }
}

/// Runs an app several times, without a network, with one, until it is killed, and until it is shut down.
struct OfflineDemonstration {
    private static let edits = 100

    private let folder: URL
    private let isTemporary: Bool

    init(folder: String?) {
        isTemporary = folder == nil
        self.folder =
            folder.map { URL(filePath: $0) }
            ?? FileManager.default.temporaryDirectory.appending(path: "offline-\(UUID().uuidString)")
    }

    private var log: URL { folder.appending(path: "log") }
    private var journal: String { folder.appending(path: "journal").path }
    private var marker: String { log.path + ".offline" }

    func run() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { if isTemporary { try? FileManager.default.removeItem(at: folder) } }
        try Data().write(to: URL(filePath: marker))
        var app = try start(edits: Self.edits)
        try await until { count("stored") == Self.edits }
        try report("offline, after \(Self.edits) edits")
        try FileManager.default.removeItem(atPath: marker)
        try await until { count("done") >= Self.edits / 4 }
        kill(app.processIdentifier, SIGKILL)
        app.waitUntilExit()
        try report("after a kill in the middle")
        app = try start(edits: 0)
        try await until { count("done") >= Self.edits / 2 }
        let start = ContinuousClock.now
        app.terminate()
        app.waitUntilExit()
        let time = ContinuousClock.now - start
        try report("after a shutdown, which took \(time.components.seconds) s")
        app = try self.start(edits: 0)
        try await until { Set(numbers("done")).count == Self.edits }
        app.terminate()
        app.waitUntilExit()
        try report("at the end")
        let lost = Self.edits - Set(numbers("done")).count
        let repeated = count("start") - Set(numbers("start")).count
        try StandardStreams.writeOutput("edits lost: \(lost), started again after the kill: \(repeated)\n")
        // At the kill, two uploads can be in progress, and two can be done and not acknowledged.
        if lost > 0 || repeated > 4 || time > .seconds(5) { exit(1) }
    }

    private func start(edits: Int) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["sync", "--folder", journal, "--log", log.path, "--edits", "\(edits)"]
        try process.run()
        return process
    }

    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(10)) }
    }

    private func numbers(_ event: String) -> [Int] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 2 && words[1] == event ? Int(words[2]) : nil
        }
    }

    private func count(_ event: String) -> Int { numbers(event).count }

    private func report(_ moment: String) throws {
        let listing = try JournalListing(journal)
        try StandardStreams.writeOutput(
            "\(moment): \(listing.waiting + listing.held) of \(Self.edits) edits are left\n")
    }
}
