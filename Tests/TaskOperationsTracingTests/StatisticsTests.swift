import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import TaskOperationsTracing
import Testing

@Suite("Statistics of queues", .timeLimit(.minutes(10)))
struct StatisticsTests {
    @Test("every operation is counted once, by what came of it", .seeds(10))
    func counts() async throws {
        let (statistics, gate) = (OperationStatistics(), Gate())
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 1, executor: .seeded)
        queue.addObserver(statistics)
        let first = queue.addOperation { await gate.pass() }
        let failing = queue.addOperation(retry: .immediately(attempts: 3)) { throw WorkFailed() }
        let cancelled = queue.addOperation(dependencies: [failing]) {}
        await gate.waitForArrivals(1)
        var now = try #require(statistics.snapshot.first)
        #expect(now.name == "work" && now.pending == 2 && now.executing == 1 && now.added == 3)
        cancelled.cancel()
        gate.open()
        _ = await failing.result
        try await first.value
        try await queue.waitUntilAllOperationsAreFinished()
        now = try #require(statistics.snapshot.first)
        #expect(
            [now.pending, now.executing, now.succeeded, now.failed, now.cancelled, now.retries] == [0, 0, 1, 1, 1, 2])
        #expect(now.executed.count == 2 && now.waited.count == 2)
        #expect(now.executed.p50 > 0 && now.executed.p99 >= now.executed.p50 && now.executed.sum > 0)
        #expect(now.executed.buckets.reduce(0) { $0 + $1.count } == 2)
    }

    private struct WorkFailed: Error {}
}

// What stands for the packages that adapters are for, with as much of each as an adapter calls.

private protocol LogHandler: Sendable {
    func info(_ message: String, metadata: [String: String])
    func error(_ message: String, metadata: [String: String])
}

private protocol MetricsFactory {
    func recordGauge(_ label: String, _ dimensions: [(String, String)], _ value: Double)
}

/// For swift-log: each end is a line, and a failure an error.
private final class LoggingObserver: TaskOperationObserver {
    private let logger: any LogHandler

    init(_ logger: any LogHandler) {
        self.logger = logger
    }

    func operationChanged(_ event: TaskOperationEvent) {
        let metadata = ["queue": event.queue.name ?? "", "number": "\(event.operationNumber)"]
        guard case .finished(let outcome) = event.kind else { return }
        let message = "\(event.operation.name ?? "unnamed") \(outcome)"
        if case .failed = outcome {
            logger.error(message, metadata: metadata)
        } else {
            logger.info(message, metadata: metadata)
        }
    }
}

/// For swift-metrics: called by what scrapes, as often as it likes.
private func report(_ statistics: OperationStatistics, to factory: some MetricsFactory) {
    for queue in statistics.snapshot {
        let dimensions = [("queue", queue.name)]
        factory.recordGauge("operations_pending", dimensions, Double(queue.pending))
        factory.recordGauge("operations_executing", dimensions, Double(queue.executing))
        factory.recordGauge("operations_failed_total", dimensions, Double(queue.failed))
        factory.recordGauge("operation_seconds_p99", dimensions, queue.executed.p99)
    }
}

@Suite("Adapters for logging and metrics", .timeLimit(.minutes(10)))
struct AdapterTests {
    private struct Log: LogHandler {
        let lines = Recorder<String>()
        func info(_ message: String, metadata: [String: String]) {
            lines.record("info \(message) \(metadata["queue"]!)")
        }
        func error(_ message: String, metadata: [String: String]) {
            lines.record("error \(message) \(metadata["queue"]!)")
        }
    }

    private struct Metrics: MetricsFactory {
        let labels = Recorder<String>()
        func recordGauge(_ label: String, _ dimensions: [(String, String)], _ value: Double) {
            labels.record(
                "\(label){\(dimensions.map { "\($0)=\($1)" }.joined())} \(label.hasSuffix("p99") ? 1 : value)")
        }
    }

    private struct Refused: Error {}

    @Test("a line for each end, and gauges for each queue", .seeds(5))
    func adapters() async throws {
        let (log, metrics, statistics) = (Log(), Metrics(), OperationStatistics())
        let queue = TaskOperationQueue(name: "work", executor: .seeded)
        queue.addObserver(LoggingObserver(log))
        queue.addObserver(statistics)
        try await queue.addOperation(name: "good") {}.value
        _ = await queue.addOperation(name: "bad") { throw Refused() }.result
        report(statistics, to: metrics)
        #expect(log.lines.events == ["info good succeeded work", "error bad failed: Refused() work"])
        #expect(
            metrics.labels.events == [
                "operations_pending{queue=work} 0.0", "operations_executing{queue=work} 0.0",
                "operations_failed_total{queue=work} 1.0", "operation_seconds_p99{queue=work} 1.0",
            ])
    }
}
