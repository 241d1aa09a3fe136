import Foundation
import SourceAudit

/// Three worker processes on one stream, one of which is killed.
struct Demonstration {
    private struct Worker {
        let name: String
        let width: Int
        let process: Process
    }

    let work: [Work]
    let server: URL
    private let stream = "work"

    func run() async throws {
        let server = try await RedisServer(server)
        defer { server.remove() }
        let engine = RedisStream(stream, at: server.address, lease: .seconds(2))
        try await engine.create()
        try await engine.send(work.enumerated().map { (id: "\($0.offset)", payload: $0.element.text) })
        let start = ContinuousClock.now
        let workers = try [1, 2, 4].map { try startWorker(width: $0, server) }
        defer { for worker in workers where worker.process.isRunning { worker.process.terminate() } }
        var killed: String?
        while true {
            let count = try await engine.count()
            if count == 0 { break }
            if killed == nil, count <= work.count / 2, let victim = workers.last {
                kill(victim.process.processIdentifier, SIGKILL)
                killed = victim.name
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let time = ContinuousClock.now - start
        for worker in workers where worker.process.isRunning {
            worker.process.terminate()
            worker.process.waitUntilExit()
        }
        try await report(workers, killed: killed, time, server)
    }

    private func startWorker(width: Int, _ server: RedisServer) throws -> Worker {
        guard case .unix(let socket) = server.address else { preconditionFailure("the server has a socket") }
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        let name = "width \(width)"
        process.arguments = [
            "worker", "--socket", socket, "--stream", stream, "--name", name, "--width", "\(width)", "--rate", "400",
        ]
        try process.run()
        return Worker(name: name, width: width, process: process)
    }

    private func report(
        _ workers: [Worker], killed: String?, _ time: Duration, _ server: RedisServer
    ) async throws {
        let client = RedisClient(server.address)
        let done = Self.numbers(try await client.command("HGETALL", "\(stream):workers"))
        let runs = Self.numbers(try await client.command("HGETALL", "\(stream):runs"))
        let attempts = Self.numbers(try await client.command("HGETALL", "\(stream):attempts"))
        var result = Outcome(count: work.count, time: time)
        for worker in workers {
            result.workers.append((worker.name, done[worker.name] ?? 0, worker.name == killed))
        }
        result.redelivered = attempts["2"] ?? 0
        result.repeated = runs.values.count { $0 > 1 }
        result.lost = work.count - runs.count
        try StandardStreams.writeOutput(result.table)
        if result.lost > 0 { exit(1) }
    }

    private static func numbers(_ reply: RESPValue) -> [String: Int] {
        let values = reply.array ?? []
        let pairs = stride(from: 0, to: values.count - 1, by: 2).map {
            (values[$0].string ?? "", Int(values[$0 + 1].string ?? "") ?? 0)
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

/// The result of a demonstration.
struct Outcome {
    let count: Int
    let time: Duration
    var workers: [(name: String, done: Int, isKilled: Bool)] = []
    var redelivered = 0
    var repeated = 0
    var lost = 0

    init(count: Int, time: Duration) {
        self.count = count
        self.time = time
    }

    var table: String {
        var rows = workers.map { ("worker, \($0.name)\($0.isKilled ? " (killed)" : "")", $0.done) }
        rows += [("delivered again", redelivered), ("done twice", repeated), ("lost", lost)]
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { "  \($0.0.padding(toLength: width, withPad: " ", startingAt: 0))  \($0.1)" }
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        return "\(count) deliveries in \((seconds * 10).rounded() / 10) s\n" + lines.joined(separator: "\n") + "\n"
    }
}
