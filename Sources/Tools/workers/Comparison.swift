import Foundation
import SourceAudit
import TaskOperations
import TaskOperationsDeliveries

/// Empty bodies by `consume`, beside a plain loop over the same driver: `workers compare --count N --rounds N …`.
struct Comparison {
    private let options: Options
    private let count: Int
    private let width: Int

    init(_ options: Options) {
        self.options = options
        count = options.number("count", or: 5000)
        width = options.number("width", or: 4)
    }

    func run() async throws {
        guard let executable = RedisServer.executables.first else { return }
        let server = try await RedisServer(executable)
        defer { server.remove() }
        if options.number("fsync", or: 0) == 0 {
            try await RedisClient(server.address).command("CONFIG", "SET", "appendfsync", "no")
        }
        for round in 0..<options.number("rounds", or: 3) {
            let plain = try await measure("plain\(round)", server) { try await runLoop($0) }
            let ours = try await measure("ours\(round)", server) { try await consume($0) }
            let ratio = (ours.wall / plain.wall * 100).rounded() / 100
            try StandardStreams.writeOutput("loop \(plain), consume \(ours) for each delivery: \(ratio)\n")
        }
    }

    /// Nanoseconds for each delivery.
    private struct Cost: CustomStringConvertible {
        let wall: Double
        let processor: Double

        var description: String { "\(Int(wall)) ns (processor time \(Int(processor)) ns)" }
    }

    /// POSIX counts it in microseconds.
    private static var processorTime: Double { Double(clock()) * 1000 }

    private func measure(
        _ name: String, _ server: RedisServer, _ work: (RedisStream) async throws -> Void
    ) async throws -> Cost {
        let stream = RedisStream(
            name, at: server.address, lease: .seconds(30), batch: options.number("batch", or: 1))
        try await stream.create()
        try await stream.send((0..<count).map { (id: "\($0)", payload: "sleep 0") })
        let (start, processorTime) = (ContinuousClock.now, Self.processorTime)
        try await work(stream)
        return Cost(
            wall: (ContinuousClock.now - start) / .nanoseconds(1) / Double(count),
            processor: (Self.processorTime - processorTime) / Double(count))
    }

    private func runLoop(_ stream: RedisStream) async throws {
        var iterator = stream.deliveries().makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= width { try await group.next() }
                guard let delivery = try await iterator.next() else { return }
                group.addTask { try await delivery.acknowledge() }
            }
            try await group.waitForAll()
        }
    }

    private func consume(_ stream: RedisStream) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
        let configuration = ConsumerConfiguration(prefetch: options.number("prefetch", or: 0))
        await queue.consume(stream.deliveries().prefix(count), configuration: configuration) { _ in }
    }
}
