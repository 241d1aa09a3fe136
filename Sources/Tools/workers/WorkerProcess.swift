import Foundation
import Synchronization
import TaskOperations
import TaskOperationsDeliveries

/// One worker, as a process: `workers worker --socket PATH --stream NAME --name NAME --width N …`.
///
/// It ends after SIGTERM, when the executing bodies have finished or `--drain` seconds have passed. Results are in the
/// hashes `NAME:runs` (runs of each payload that ended) and `NAME:workers`. With `--log FILE`, each start and end of a
/// body is a line.
struct WorkerProcess {
    private let options: Options
    private let address: RedisAddress
    private let stream: RedisStream
    private let results: RedisClient
    private let rate: RedisRate?
    private let log: RunLog?

    init(_ options: Options) throws {
        self.options = options
        address = .unix(path: options["socket"] ?? "server.sock")
        let name = options["stream"] ?? "work"
        stream = RedisStream(
            name, at: address, lease: .seconds(options.number("lease", or: 2)), batch: options.number("batch", or: 1))
        results = RedisClient(address)
        let perSecond = options.number("rate", or: 0)
        rate = perSecond > 0 ? RedisRate("\(name):rate", perSecond: Double(perSecond), at: address) : nil
        log = try options["log"].map { try RunLog($0) }
    }

    func run() async throws {
        let name = options["name"] ?? "worker"
        var configuration = ConsumerConfiguration(prefetch: options.number("prefetch", or: 0))
        configuration.drainTime = .seconds(options.number("drain", or: 10))
        configuration.options.lease = DeliveryLease(stream.lease, renewal: .upTo(.seconds(60)))
        configuration.options.redelivery = .exponential(
            initial: .milliseconds(100), maximum: .seconds(2), attempts: .max)
        configuration.backoff = configuration.options.redelivery
        let queue = TaskOperationQueue(name: name, maxConcurrentOperationCount: options.number("width", or: 2))
        let consumption = Task { [configuration] in
            await queue.consume(
                stream.deliveries(), configuration: configuration, observer: { log?.record($0) }
            ) { work in
                try await execute(work, name)
            }
        }
        Termination.watch { consumption.cancel() }
        await consumption.value
        log?.write("stopped")
    }

    private func execute(_ work: RedisWork, _ name: String) async throws {
        log?.write("start \(work.id) \(work.attempt)")
        defer { log?.write("end \(work.id) \(work.attempt) \(Task.isCancelled ? "cancelled" : "")") }
        try await rate?.wait()
        guard let task = Work(work.text) else { throw UnknownWork(text: work.text) }
        _ = try await task.run()
        if log == nil {
            _ = try await results.pipeline([
                ["HINCRBY", "\(stream.name):runs", work.id, "1"], ["HINCRBY", "\(stream.name):workers", name, "1"],
                ["HINCRBY", "\(stream.name):attempts", "\(min(work.attempt, 2))", "1"],
            ])
        }
        log?.write("done \(work.id) \(work.attempt)")
    }
}

/// The error of a payload that this worker cannot read. Another version of the worker may be able to read it.
private struct UnknownWork: Error {
    let text: String
}

/// SIGTERM. The signal is blocked in every thread, and the main thread waits for it.
enum Termination {
    private static let handler = Mutex<(@Sendable () -> Void)?>(nil)

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        return set
    }

    /// Blocks the signal. Called before there is a second thread, because threads inherit the mask.
    static func hold() {
        var signals = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for signals for ever. Without a handler, the first one ends the process.
    static func serve() -> Never {
        while true {
            var (signals, received) = (signals, CInt(0))
            while sigwait(&signals, &received) != 0 {}
            guard let handler = handler.withLock({ $0 }) else { _exit(128 + SIGTERM) }
            handler()
        }
    }

    static func watch(_ handler: @escaping @Sendable () -> Void) { Self.handler.withLock { $0 = handler } }
}

/// A file of lines, each with the time in nanoseconds, that another process reads.
struct RunLog: Sendable {
    private let descriptor: CInt

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        if descriptor < 0 { throw CocoaError(.fileWriteUnknown) }
    }

    func write(_ text: String) {
        let line = Array("\(DispatchTime.now().uptimeNanoseconds) \(text)\n".utf8)
        _ = Foundation.write(descriptor, line, line.count)
    }

    func record<ID: CustomStringConvertible>(_ event: DeliveryEvent<ID>) {
        switch event {
        case .acknowledged(let id): write("acknowledged \(id)")
        case .leaseLost(let id): write("lost \(id)")
        case .givenBack(let id): write("returned \(id)")
        case .rejected(let id, let error, _): write("rejected \(id) \(error)")
        case .poisoned(let id, _): write("poisoned \(id)")
        case .pullPostponed(let error, let pause): write("postponed - for \(pause): \(error)")
        case .engineFailed(let call, let id, let error, let pause):
            write("failed \(id.map { "\($0)" } ?? "-") \(call) \(pause.map { "\($0)" } ?? "for good"): \(error)")
        }
    }
}
