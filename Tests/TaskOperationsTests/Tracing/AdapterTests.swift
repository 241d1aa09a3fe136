import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

// Substitutes for the packages that the adapters target. They declare the functions that the adapters call.

private protocol LogHandler: Sendable {
    func info(_ message: String, metadata: [String: String])
    func error(_ message: String, metadata: [String: String])
}

private protocol MetricsFactory {
    func recordGauge(_ label: String, _ dimensions: [(String, String)], _ value: Double)
}

private protocol Span: Sendable {
    var context: ServiceContext { get }
    func recordError(_ error: any Error)
    func end()
}

private protocol Tracer: Sendable {
    func startSpan(_ name: String, context: ServiceContext?) -> any Span
}

private struct ServiceContext: Sendable {
    @TaskLocal static var current: ServiceContext?
    let path: String
}

/// An adapter for swift-log. Each end becomes a log line, and a failure becomes an error line.
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

/// An adapter for swift-metrics. A timer or scraper calls it at any rate.
private func report(_ statistics: OperationStatistics, to factory: some MetricsFactory) {
    for queue in statistics.snapshot {
        let dimensions = [("queue", queue.name)]
        factory.recordGauge("operations_queued", dimensions, Double(queue.queued))
        factory.recordGauge("operations_executing", dimensions, Double(queue.executing))
        factory.recordGauge("operations_failed_total", dimensions, Double(queue.failed))
        factory.recordGauge("operation_seconds_p99", dimensions, queue.executed.p99 / .seconds(1))
    }
}

/// An adapter for swift-distributed-tracing. Each body runs in a span, which is the parent of the spans that begin in
/// the body.
extension TaskOperationQueue {
    fileprivate func traceBodies(with tracer: some Tracer) {
        addBodyInterceptor { operation, body in
            let span = tracer.startSpan(operation.name ?? "operation", context: ServiceContext.current)
            defer { span.end() }
            do {
                try await ServiceContext.$current.withValue(span.context) { try await body() }
            } catch {
                span.recordError(error)
                throw error
            }
        }
    }
}

@Suite("Adapters for logging, metrics and distributed tracing", .inTurns, .timeLimit(.minutes(120)))
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

    private struct Tracing: Tracer {
        let lines = Recorder<String>()

        func startSpan(_ name: String, context: ServiceContext?) -> any Span {
            let path = (context.map { $0.path + "/" } ?? "") + name
            lines.record("start \(path)")
            return RecordedSpan(context: ServiceContext(path: path), lines: lines)
        }
    }

    private struct RecordedSpan: Span {
        let context: ServiceContext
        let lines: Recorder<String>

        func recordError(_ error: any Error) { lines.record("error \(context.path)") }
        func end() { lines.record("end \(context.path)") }
    }

    @Test("a span for each body, within the span in which the operation was added", .schedules(5))
    func spans() async throws {
        let tracing = Tracing()
        let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal(ServiceContext.$current)]))
        queue.traceBodies(with: tracing)
        let outer = ServiceContext.$current.withValue(ServiceContext(path: "request")) {
            queue.addOperation(name: "outer") {
                _ = await queue.addOperation(name: "inner") { throw Refused() }.result
            }
        }
        try await outer.value
        #expect(
            tracing.lines.events == [
                "start request/outer", "start request/outer/inner", "error request/outer/inner",
                "end request/outer/inner", "end request/outer",
            ])
    }

    private struct Refused: Error {}

    @Test("a line for each end, and gauges for each queue", .schedules(5))
    func adapters() async throws {
        let (log, metrics, statistics) = (Log(), Metrics(), OperationStatistics())
        let queue = TaskOperationQueue(name: "work")
        queue.addObserver(LoggingObserver(log))
        queue.addObserver(statistics)
        try await queue.addOperation(name: "good") {}.value
        _ = await queue.addOperation(name: "bad") { throw Refused() }.result
        report(statistics, to: metrics)
        #expect(log.lines.events == ["info good succeeded work", "error bad failed: Refused() work"])
        #expect(
            metrics.labels.events == [
                "operations_queued{queue=work} 0.0", "operations_executing{queue=work} 0.0",
                "operations_failed_total{queue=work} 1.0", "operation_seconds_p99{queue=work} 1.0",
            ])
    }
}
