import Foundation
import SourceAudit
import Synchronization
import TaskOperations
import TaskOperationsDeliveries

/// The same as `Demonstration` in one process: workers are queues, and a killed one no longer reaches the engine.
struct MemoryDemonstration {
    private final class Tally: Sendable {
        struct Counts {
            var killed: String?
            var done: [String: Int] = [:]
            var runs: [Int: Int] = [:]
        }
        let counts = Mutex(Counts())
    }

    struct Unreachable: Error {}

    let work: [Work]

    func run() async throws {
        let tally = Tally()
        let engine = InMemoryEngine<Int>(lease: .seconds(2)) { worker, _, _ in
            if tally.counts.withLock({ $0.killed == worker }) { throw Unreachable() }
        }
        for number in work.indices { engine.send(number) }
        engine.finish()
        let start = ContinuousClock.now
        let victim = "width 4"
        await withTaskGroup { group in
            for width in [1, 2, 4] {
                group.addTask { await consume(engine, width: width, tally) }
            }
            group.addTask {
                while engine.count > work.count / 2 { try? await Task.sleep(for: .milliseconds(10)) }
                tally.counts.withLock { $0.killed = victim }
                while engine.count > 0 { try? await Task.sleep(for: .milliseconds(10)) }
            }
            // The killed worker pulls for ever.
            for _ in 0..<3 { await group.next() }
            group.cancelAll()
        }
        var result = Outcome(count: work.count, time: ContinuousClock.now - start)
        let counts = tally.counts.withLock { $0 }
        result.workers = [1, 2, 4].map { width in
            ("width \(width)", counts.done["width \(width)"] ?? 0, "width \(width)" == victim)
        }
        result.redelivered = counts.runs.values.reduce(0) { $0 + $1 - 1 }
        result.repeated = counts.runs.values.count { $0 > 1 }
        result.lost = work.count - counts.runs.count
        try StandardStreams.writeOutput(result.table)
    }

    private func consume(_ engine: InMemoryEngine<Int>, width: Int, _ tally: Tally) async {
        let name = "width \(width)"
        var configuration = ConsumerConfiguration()
        configuration.options.lease.duration = .seconds(2)
        let queue = TaskOperationQueue(name: name, maxConcurrentOperationCount: width)
        await queue.consume(engine.deliveries(to: name), configuration: configuration) { number in
            _ = try await work[number].run()
            tally.counts.withLock { counts in
                counts.done[name, default: 0] += 1
                counts.runs[number, default: 0] += 1
            }
        }
    }
}
