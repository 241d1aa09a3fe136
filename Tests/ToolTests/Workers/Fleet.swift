#if os(Linux)
    import Foundation
    import workers

    /// Worker processes that consume one stream of a server and log their work to files.
    final class Fleet {
        private struct Member {
            let process: Process
            let log: String
        }

        let server: RedisServer
        let stream: RedisStream
        private let width: Int
        private let drainTime: Int
        private var members: [Member] = []
        private var logs: [(path: String, killTime: UInt64?)] = []

        init(
            of executable: URL, count: Int, width: Int, payloads: Int, work: String, drainTime: Int = 10
        ) async throws {
            self.width = width
            self.drainTime = drainTime
            server = try await RedisServer(executable)
            stream = RedisStream("fleet", at: server.address, lease: .seconds(2))
            try await stream.create()
            try await stream.send((0..<payloads).map { (id: "\($0)", payload: work) })
            for _ in 0..<count { try startMember() }
        }

        private func startMember() throws {
            let log = server.folder.appending(path: "worker-\(logs.count).log").path
            let process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "workers")
            process.arguments = [
                "worker", "--socket", server.folder.appending(path: "server.sock").path, "--stream", stream.name,
                "--name", "worker-\(logs.count)", "--width", "\(width)", "--log", log, "--drain", "\(drainTime)",
            ]
            try process.run()
            members.append(Member(process: process, log: log))
            logs.append((log, nil))
        }

        /// Kills a random worker, and starts another one.
        func replaceMember() throws {
            let member = members.remove(at: Int.random(in: members.indices))
            kill(member.process.processIdentifier, SIGKILL)
            member.process.waitUntilExit()
            logs[logs.firstIndex { $0.path == member.log }!].killTime = DispatchTime.now().uptimeNanoseconds
            try startMember()
        }

        /// Requests all workers to exit. Returns the time until the last one has exited.
        func terminate() -> Duration {
            let start = ContinuousClock.now
            for member in members { member.process.terminate() }
            for member in members { member.process.waitUntilExit() }
            members = []
            return ContinuousClock.now - start
        }

        func remove() {
            for member in members { kill(member.process.processIdentifier, SIGKILL) }
            server.remove()
        }

        /// Returns the number of payloads in the stream; nil while the server is down.
        func left() async -> Int? { try? await stream.count() }

        func history() throws -> FleetHistory {
            var history = FleetHistory()
            for log in logs { try history.read(log.path, killTime: log.killTime) }
            return history
        }
    }

    /// The logs of a fleet's workers.
    struct FleetHistory {
        struct Run {
            let log: String
            let start: UInt64
            var end = UInt64.max
            /// The time at which the worker noticed that its lease was lost.
            var lossTime: UInt64?
        }

        private(set) var runs: [String: [Run]] = [:]
        private(set) var done: Set<String> = []
        private(set) var acknowledged: Set<String> = []
        private(set) var acknowledgedWithoutSuccess: [String] = []
        private(set) var lossCount = 0
        private(set) var engineFailureCount = 0
        private(set) var stoppedCount = 0

        mutating func read(_ path: String, killTime: UInt64?) throws {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
            var open: [String: Run] = [:]
            var doneHere: Set<String> = []
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                guard words.count >= 2, let time = UInt64(words[0]) else { continue }
                let id = words.count > 2 ? words[2] : ""
                switch words[1] {
                case "start": open[id] = Run(log: path, start: time)
                case "done":
                    done.insert(id)
                    doneHere.insert(id)
                case "end":
                    open[id]?.end = time
                    open.removeValue(forKey: id).map { runs[id, default: []].append($0) }
                case "lost":
                    lossCount += 1
                    open[id]?.lossTime = time
                case "acknowledged":
                    acknowledged.insert(id)
                    if !doneHere.contains(id) { acknowledgedWithoutSuccess.append(id) }
                case "failed": engineFailureCount += 1
                case "stopped": stoppedCount += 1
                default: break
                }
            }
            for (id, var run) in open {
                run.end = killTime ?? .max
                runs[id, default: []].append(run)
            }
        }

        var runCount: Int { runs.values.reduce(0) { $0 + $1.count } }

        /// Overlapping runs of one payload, except if the earlier run noticed the loss of its lease at most 0.5 s after
        /// the later run began.
        var overlaps: [String] {
            runs.flatMap { id, runs -> [String] in
                let runs = runs.sorted { $0.start < $1.start }
                return zip(runs, runs.dropFirst()).filter { first, second in
                    let isLost = first.lossTime.map { $0 <= second.start + 500_000_000 } ?? false
                    return second.start < first.end && !isLost
                }.map { "\(id): \($0), \($1)" }
            }
        }
    }
#endif
