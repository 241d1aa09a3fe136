#if os(Linux)
    import Foundation
    import workers
    import TaskOperationsTesting
    import TestSupport
    import Testing

    @testable import TaskOperationsDeliveries

    /// Each test that starts child processes runs in a separate process. See `CommandOutputTests`.
    @Suite("A journal whose process is killed", .inTurns, .prompt, .endsInTime)
    struct JournalTests {
        @Test(
            "nothing that was stored is lost, nothing acknowledged is repeated, and keys keep their order",
            arguments: ["never", "interval", "everyRecord"])
        func kills(durability: String) async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                [durability] in
                let count =
                    ProcessInfo.processInfo.environment["JOURNAL_KILLS"].flatMap { Int($0) } ?? (isDeep ? 300 : 8)
                let load = try JournalLoad(durability)
                defer { load.remove() }
                let start = ContinuousClock.now
                for _ in 0..<count { try load.runAndKill() }
                try load.drain()
                let history = load.history
                print("deliveries: \(durability), \(count) kills in \(ContinuousClock.now - start), \(history)")
                #expect(history.stored.count >= count)
                #expect(history.lost.isEmpty)
                #expect(history.repeated.isEmpty)
                #expect(history.outOfOrder.isEmpty)
                #expect(try load.leftCount == 0)
            }
            let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
            for line in lines where line.hasPrefix("deliveries:") { print(line) }
        }

        @Test("the offline queue stops without a network, survives a kill, and is shut down within 5 s")
        func offlineQueue() async {
            await #expect(processExitsWith: .success) {
                let result = try runWorkers("offline")
                #expect(result.status == 0, "\(result.output)")
                #expect(result.output.hasPrefix("offline, after 100 edits: 100 of 100 edits are left\n"))
                #expect(result.output.contains("at the end: 0 of 100 edits are left\nedits lost: 0"))
            }
        }

        @Test("`workers journal` lists a directory and a segment, and names the damaged byte")
        func listing() async {
            await #expect(processExitsWith: .success) {
                let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path
                defer { try? FileManager.default.removeItem(atPath: folder) }
                var configuration = JournalConfiguration(durability: .never, maxAttempts: 1)
                configuration.wallClock = { 1_700_000_000_000 }
                let engine = try await JournalEngine<Int>(directory: folder, configuration: configuration)
                for number in 1...3 {
                    try await engine.enqueue(number, options: EnqueueOptions(identity: "number \(number)"))
                }
                var iterator = engine.deliveries().makeAsyncIterator()
                try await iterator.next()?.reject(retryAfter: .zero, because: CancellationError())
                _ = try await iterator.next()
                let file = "\(folder)/00000001.journal"
                let size = engine.counts.fileSize
                let text = """
                    \(file): version 1, 6 records, \(size) bytes
                    All checksums are correct.
                    waiting: 1, held: 1, the oldest since 2023-11-14T22:13:20Z
                    dead letters: 1
                      1 (number 1): 1 failures, CancellationError()

                    """
                for path in [folder, file] {
                    let result = try runWorkers("journal", path)
                    #expect(result.output == text && result.status == 0)
                }
                await engine.close()
                var bytes = try Data(contentsOf: URL(filePath: file))
                bytes[size - 3] ^= 1
                try bytes.write(to: URL(filePath: file))
                let result = try runWorkers("journal", folder)
                #expect(
                    result.status == 1 && result.output.hasPrefix("\(file): version 1, 5 records, \(size - 33) bytes\n")
                )
                #expect(result.error.contains("\(file), at byte \(size - 33)"))
                #expect(try runWorkers("journal", "/nowhere").error.contains("opendir of /nowhere failed"))
                #expect(try runWorkers("journal").status == 1)
            }
        }
    }

    private func workersProcess(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "workers")
        process.arguments = arguments
        return process
    }

    private func runWorkers(_ arguments: String...) throws -> (output: String, error: String, status: Int32) {
        let process = workersProcess(arguments)
        let (output, error) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, error)
        try process.run()
        let texts = [output, error].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (texts[0], texts[1], process.terminationStatus)
    }

    /// A process that adds and delivers numbers, and that is killed again and again.
    private final class JournalLoad {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
        private let durability: String
        private(set) var history = JournalHistory()
        private var offset: UInt64 = 0
        private var log: URL { folder.appending(path: "log") }

        init(_ durability: String) throws {
            self.durability = durability
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }

        /// Kills a process at a random moment after it has opened the journal.
        func runAndKill() throws {
            readLog()
            let openings = history.openings
            let process = try start(first: (history.highest + 8) / 4 * 4, last: .max)
            while history.openings == openings {
                usleep(1000)
                readLog()
            }
            usleep(.random(in: 0..<30_000))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal, "the process has ended by itself")
        }

        func drain() throws {
            let process = try start(first: 0, last: 0)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            readLog()
        }

        private func start(first: Int, last: Int) throws -> Process {
            let process = workersProcess([
                "load", "--folder", folder.appending(path: "journal").path, "--log", log.path, "--first", "\(first)",
                "--last", "\(last)", "--durability", durability,
            ])
            try process.run()
            return process
        }

        /// Reads the lines that the processes have written since the last call.
        private func readLog() {
            guard let file = try? FileHandle(forReadingFrom: log), (try? file.seek(toOffset: offset)) != nil else {
                return
            }
            let bytes = (try? file.readToEnd()) ?? Data()
            guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
            offset += UInt64(end - bytes.startIndex + 1)
            history.add(String(decoding: bytes[...end], as: UTF8.self))
        }

        /// The number of deliveries in the journal.
        var leftCount: Int {
            get throws {
                let listing = try JournalListing(folder.appending(path: "journal").path)
                return listing.waiting + listing.held + listing.deadLetters.count
            }
        }
    }

    /// The log of a `JournalLoad`.
    private struct JournalHistory: CustomStringConvertible {
        private(set) var openings = 0
        private(set) var highest = 0
        private(set) var stored: Set<Int> = []
        private(set) var started: Set<Int> = []
        private(set) var acknowledged: Set<Int> = []
        private(set) var repeated: [Int] = []
        private(set) var outOfOrder: [Int] = []
        private(set) var startCount = 0
        private var lastOfKey: [Int: Int] = [:]

        mutating func add(_ text: String) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 2 else { continue }
                if words[1] == "opened" { openings += 1 }
                guard let number = Int(words[2]) else { continue }
                highest = max(highest, number)
                switch words[1] {
                case "stored": stored.insert(number)
                case "acknowledged": acknowledged.insert(number)
                case "start": start(number)
                default: break
                }
            }
        }

        private mutating func start(_ number: Int) {
            startCount += 1
            started.insert(number)
            if acknowledged.contains(number) { repeated.append(number) }
            if number < lastOfKey[number % 4] ?? 0 { outOfOrder.append(number) }
            lastOfKey[number % 4] = number
        }

        var lost: Set<Int> { stored.subtracting(started) }

        var description: String {
            "\(stored.count) stored, \(startCount) attempts, \(lost.count) lost, \(repeated) repeated, "
                + "\(outOfOrder) out of order"
        }
    }
#endif
