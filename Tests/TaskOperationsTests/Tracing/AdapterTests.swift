import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

/// The code of the article "Adapters", and stand-ins for the packages, which declare what the code uses.
private enum Packages {
    // MARK: Stand-ins

    struct Logger: Sendable {
        typealias Metadata = [String: MetadataValue]

        struct MetadataValue: Sendable, ExpressibleByStringInterpolation {
            let text: String
            init(stringLiteral value: String) { text = value }
        }

        let lines: Recorder<String>

        func debug(_ message: String, metadata: Metadata) { log("debug", message, metadata) }
        func info(_ message: String, metadata: Metadata) { log("info", message, metadata) }
        func notice(_ message: String, metadata: Metadata) { log("notice", message, metadata) }
        func error(_ message: String, metadata: Metadata) { log("error", message, metadata) }

        private func log(_ level: String, _ message: String, _ metadata: Metadata) {
            let pairs = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }
            lines.record(([level, message] + pairs).joined(separator: " "))
        }
    }

    struct Meter {
        @TaskLocal static var values: Recorder<String>?

        let label: String
        let dimensions: [(String, String)]

        func set(_ value: Double) {
            let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined()
            // Times differ in each run.
            Self.values?.record("\(label){\(labels)} \(label.hasSuffix("_seconds") ? "" : "\(Int(value))")")
        }
    }

    struct ServiceContext: Sendable {
        @TaskLocal static var current: ServiceContext?
        let path: String
        let lines: Recorder<String>
    }

    static func withSpan(_ name: String, _ body: (ServiceContext) async throws -> Void) async throws {
        let outer = ServiceContext.current!
        let span = ServiceContext(path: outer.path + "/" + name, lines: outer.lines)
        span.lines.record("start \(span.path)")
        defer { span.lines.record("end \(span.path)") }
        do {
            try await ServiceContext.$current.withValue(span) { try await body(span) }
        } catch {
            span.lines.record("error \(span.path)")
            throw error
        }
    }

    protocol Service: Sendable {
        func run() async throws
    }

    /// The end of a group, for which its services wait.
    final class Shutdown: Sendable {
        @TaskLocal static var current: Shutdown?
        let hasBegun = AsyncStream<Never>.makeStream()
    }

    static func gracefulShutdown() async throws {
        for await _ in Shutdown.current!.hasBegun.stream {}
        try Task.checkCancellation()
    }

    static func cancelWhenGracefulShutdown(_ operation: @Sendable @escaping () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await operation() }
            group.addTask { try await gracefulShutdown() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    enum Signal {
        case sigterm
    }

    struct ServiceGroup {
        let services: [any Service]
        let gracefulShutdownSignals: [Signal]
        let logger: Logger

        func run() async throws {
            try await withThrowingTaskGroup { group in
                for service in services { group.addTask { try await service.run() } }
                try await group.waitForAll()
            }
        }
    }

    // MARK: The article's code

    /// Writes a line for each operation that ends, and for each further attempt.
    final class LoggingObserver: TaskOperationObserver {
        private let logger: Logger

        init(_ logger: Logger) {
            self.logger = logger
        }

        func operationChanged(_ event: TaskOperationEvent) {
            let name = event.operation.name ?? "operation"
            var metadata: Logger.Metadata = [
                "queue": "\(event.queue.name ?? "unnamed")", "number": "\(event.operationNumber)",
            ]
            switch event.kind {
            case .finished(.succeeded): logger.debug("\(name) succeeded", metadata: metadata)
            case .finished(.cancelled): logger.info("\(name) was cancelled", metadata: metadata)
            case .finished(.failed(let error)):
                metadata["error"] = "\(error)"
                logger.error("\(name) failed", metadata: metadata)
            case .attempt(let number):
                metadata["attempt"] = "\(number)"
                logger.notice("\(name) is tried again", metadata: metadata)
            default: break
            }
        }
    }

    /// Passes the statistics of each queue to the metrics system.
    static func report(_ statistics: OperationStatistics) {
        for queue in statistics.snapshot {
            func set(_ label: String, _ value: Double) {
                Meter(label: "task_operations_" + label, dimensions: [("queue", queue.name)]).set(value)
            }
            set("queued", Double(queue.queued))
            set("executing", Double(queue.executing))
            set("failed", Double(queue.failed))
            set("refused", Double(queue.refused))
            set("oldest_age_seconds", (queue.oldestAge ?? .zero) / .seconds(1))
            set("waited_p99_seconds", queue.waited.p99 / .seconds(1))
            set("executed_p99_seconds", queue.executed.p99 / .seconds(1))
        }
    }

    /// Runs each body of a queue in a span, which is the parent of the spans that begin in the body.
    static func traceBodies(of queue: TaskOperationQueue) {
        queue.addBodyInterceptor { operation, body in
            try await withSpan(operation.name ?? "operation") { _ in try await body() }
        }
    }

    static func makeQueue() -> TaskOperationQueue {
        let queue = TaskOperationQueue(.init(name: "images", taskLocals: [InheritedTaskLocal(ServiceContext.$current)]))
        traceBodies(of: queue)
        return queue
    }

    /// Keeps a queue open until its service group shuts down, and then drains the queue.
    struct QueueService: Service {
        let queue: TaskOperationQueue
        /// The time that operations have to finish after the shutdown has begun.
        var limit: Duration = .seconds(30)

        func run() async throws {
            // Throws if the group cancels the service. The queue then cancels its operations at once.
            try? await gracefulShutdown()
            try await queue.shutDown(cancellingAfter: limit)
        }
    }

    /// Reports statistics until its service group shuts down, and once more at the end.
    struct StatisticsService: Service {
        let statistics: OperationStatistics
        var interval: Duration = .seconds(15)

        func run() async throws {
            try? await cancelWhenGracefulShutdown {
                while true {
                    report(statistics)
                    try await Task.sleep(for: interval)
                }
            }
            report(statistics)
        }
    }

    static func run(_ queue: TaskOperationQueue, _ statistics: OperationStatistics, logger: Logger) async throws {
        let group = ServiceGroup(
            services: [StatisticsService(statistics: statistics), QueueService(queue: queue)],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }
}

@Suite("Adapters for logging, metrics, tracing and services", .inTurns, .endsInTime)
struct AdapterTests {
    private struct Refused: Error {}

    @Test("the article contains the code that is tested here")
    func article() throws {
        let tests = URL(filePath: #filePath)
        let article = try String(
            contentsOf: tests.deletingLastPathComponent().appending(
                path: "../../../Sources/TaskOperationsDiagnosis/TaskOperationsDiagnosis.docc/Adapters.md"),
            encoding: .utf8)
        let code = normalized(try String(contentsOf: tests, encoding: .utf8))
        let blocks = article.matches(of: /<!-- not compiled: AdapterTests [^\n]*\n```swift\n((?s).*?)\n```/).map(\.1)
        #expect(blocks.count == 7)
        for block in blocks { #expect(code.contains(normalized(String(block))), "\(block)") }
    }

    /// The lines of some code without indentation. The functions are static here.
    private func normalized(_ code: String) -> String {
        code.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let text = line.trimmingCharacters(in: .whitespaces)
            return text.hasPrefix("static func ") ? String(text.dropFirst("static ".count)) : text
        }.joined(separator: "\n")
    }

    @Test("a span for each body, within the span in which the operation was added", .schedules(5))
    func spans() async throws {
        let lines = Recorder<String>()
        let queue = Packages.makeQueue()
        let outer = Packages.ServiceContext.$current.withValue(.init(path: "request", lines: lines)) {
            queue.addOperation(name: "outer") {
                _ = await queue.addOperation(name: "inner") { throw Refused() }.result
            }
        }
        try await outer.value
        #expect(
            lines.events == [
                "start request/outer", "start request/outer/inner", "error request/outer/inner",
                "end request/outer/inner", "end request/outer",
            ])
    }

    @Test("a line for each end and each further attempt", .schedules(5))
    func logs() async throws {
        let lines = Recorder<String>()
        let queue = TaskOperationQueue(name: "work")
        queue.addObserver(Packages.LoggingObserver(.init(lines: lines)))
        try await queue.addOperation(name: "good") {}.value
        _ = await queue.addOperation(name: "bad", .retry(.immediately(attempts: 2))) { throw Refused() }.result
        await until { lines.events.count == 3 }
        let suspended = TaskOperationQueue(.init(name: "idle", isSuspended: true))
        suspended.addObserver(Packages.LoggingObserver(.init(lines: lines)))
        suspended.addOperation {}.cancel()
        #expect(
            lines.events == [
                "debug good succeeded number=1 queue=work", "notice bad is tried again attempt=2 number=2 queue=work",
                "error bad failed error=Refused() number=2 queue=work",
                "info operation was cancelled number=1 queue=idle",
            ])
    }

    @Test("a meter for each value of each queue", .schedules(5))
    func metrics() async throws {
        let (values, statistics) = (Recorder<String>(), OperationStatistics())
        let queue = TaskOperationQueue(name: "work")
        queue.addObserver(statistics)
        _ = await queue.addOperation(name: "bad") { throw Refused() }.result
        await until { statistics.snapshot.first?.failed == 1 }
        Packages.Meter.$values.withValue(values) { Packages.report(statistics) }
        #expect(
            values.events.map { $0.replacing("{queue=work}", with: "") } == [
                "task_operations_queued 0", "task_operations_executing 0", "task_operations_failed 1",
                "task_operations_refused 0", "task_operations_oldest_age_seconds ",
                "task_operations_waited_p99_seconds ", "task_operations_executed_p99_seconds ",
            ])
    }

    @Test("a group drains its queue when it shuts down, and reports the last statistics", .schedules(5))
    func services() async throws {
        let (shutdown, values, gate) = (Packages.Shutdown(), Recorder<String>(), Gate())
        let (queue, statistics) = (TaskOperationQueue(name: "work"), OperationStatistics())
        queue.addObserver(statistics)
        let operation = queue.addOperation { await gate.pass() }
        let group = Packages.Shutdown.$current.withValue(shutdown) {
            Packages.Meter.$values.withValue(values) {
                Task { try await Packages.run(queue, statistics, logger: .init(lines: Recorder())) }
            }
        }
        await gate.waitForArrivals(1)
        shutdown.hasBegun.continuation.finish()
        await until { queue.isShutDown }
        #expect(!operation.isFinished)
        gate.open()
        try await group.value
        #expect(operation.isFinished && values.events.count >= 14)
    }

    @Test("a service whose task is cancelled cancels the operations of its queue", .schedules(5))
    func cancelledService() async throws {
        let (shutdown, gate) = (Packages.Shutdown(), Gate())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation {
            await gate.pass()
            try Task.checkCancellation()
        }
        await gate.waitForArrivals(1)
        let service = Packages.Shutdown.$current.withValue(shutdown) {
            Task { try await Packages.QueueService(queue: queue).run() }
        }
        service.cancel()
        await until { operation.isCancelled }
        gate.open()
        try await service.value
        #expect(operation.failure is CancellationError && queue.operationCount == 0)
    }
}
