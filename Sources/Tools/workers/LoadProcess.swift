import Foundation
import SourceAudit
import TaskOperationsDeliveries

/// Adds and delivers payloads until the process is killed: `workers load --folder FOLDER --log FILE --first N`.
///
/// The payloads are the numbers from N on, and their keys the remainders of 4. Each line of the log follows the end of a
/// call, and each start of an attempt precedes it.
struct LoadProcess {
    private let folder: String
    private let log: RunLog
    private let first: Int
    private let last: Int
    private let durability: JournalDurability

    init(_ options: Options) throws {
        folder = options["folder"] ?? "journal"
        log = try RunLog(options["log"] ?? "load.log")
        first = options.number("first", or: 0)
        last = options.number("last", or: .max)
        durability =
            switch options["durability"] {
            case "never": .never
            case "interval": .interval(.milliseconds(5))
            default: .everyRecord
            }
    }

    func run() async throws {
        var configuration = JournalConfiguration(durability: durability, maxAttempts: 1_000_000)
        configuration.segmentSize = 20_000
        configuration.compactionThreshold = 20_000
        let engine = try await JournalEngine<Int>(directory: folder, configuration: configuration)
        log.write("opened - \(engine.counts.waiting)")
        if first >= last { engine.finish() }
        try await withThrowingTaskGroup { group in
            for part in 0..<4 {
                // One task for each key, so that a key has the order of its numbers.
                group.addTask { try await add(to: engine, part) }
                group.addTask { try await deliver(from: engine) }
            }
            try await group.waitForAll()
        }
        await engine.close()
    }

    private func add(to engine: JournalEngine<Int>, _ part: Int) async throws {
        var number = first / 4 * 4 + part
        while number < last {
            if number >= first {
                let options = EnqueueOptions(identity: "\(number)", key: "\(part)")
                try await engine.enqueue(number, options: options)
                log.write("stored \(number)")
            }
            number += 4
            // Deliveries must keep up.
            while engine.counts.waiting > 50 { await Task.yield() }
        }
    }

    private func deliver(from engine: JournalEngine<Int>) async throws {
        for try await delivery in engine.deliveries() {
            log.write("start \(delivery.payload)")
            try await delivery.acknowledge()
            log.write("acknowledged \(delivery.payload)")
        }
    }
}
