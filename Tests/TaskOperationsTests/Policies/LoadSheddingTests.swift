import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Load shedding", .timeLimit(.minutes(120)))
struct LoadSheddingTests {
    private let clock = ManualClock()
    private let gates = (0..<3).map { _ in Gate() }

    /// A queue of width 1 in which an operation has waited for a second, and another one executes.
    private func busyQueue(maxQueuedOperationCount: Int = .max) async throws -> TaskOperationQueue {
        let queue = TaskOperationQueue(
            .init(
                name: "busy", maxConcurrentOperationCount: 1, maxQueuedOperationCount: maxQueuedOperationCount,
                shedsLoad: true, clock: clock))
        let (first, second) = (gates[0], gates[1])
        queue.addOperation { await first.pass() }
        await first.waitForArrivals(1)
        queue.addOperation { await second.pass() }
        clock.advance(by: .seconds(1))
        first.open()
        await second.waitForArrivals(1)
        return queue
    }

    @Test("An operation that would start too late is refused at once, and its body never runs")
    func refusal() async throws {
        let queue = try await busyQueue()
        let refused = queue.addOperation([.name("late"), .timeout(untilStart: .milliseconds(100)), .clock(clock)]) {
            Issue.record("The body has run.")
        }
        guard case .overloaded(let label, "busy", let wait)? = refused.failure as? TaskOperationError else {
            Issue.record("\(refused)")
            return
        }
        #expect(label == OperationLabel(refused))
        #expect(wait > .milliseconds(500) && wait <= .seconds(1))
        #expect("\(refused.failure!)".contains("late"))
        let accepted = [
            queue.addOperation([.timeout(untilStart: .seconds(2)), .clock(clock)]) {}, queue.addOperation {},
            queue.addOperation([
                .timeout(untilStart: .milliseconds(1)), .clock(clock), .dependencies([queue.operations[0]]),
            ]) {},
        ]
        #expect(accepted.allSatisfy { !$0.isFinished })
        gates[1].open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(accepted.allSatisfy { $0.failure == nil })
        let idle = queue.addOperation([.timeout(untilStart: .milliseconds(100)), .clock(clock)]) {}
        try await idle.value
    }

    @Test("A full queue refuses such an operation for the wait, and a suspended queue accepts it")
    func roomAndSuspension() async throws {
        let queue = try await busyQueue(maxQueuedOperationCount: 1)
        let waiting = queue.addOperation {}
        let refused = queue.addOperation([.timeout(untilStart: .milliseconds(100)), .clock(clock)]) {}
        guard case .overloaded? = refused.failure as? TaskOperationError else {
            Issue.record("\(refused)")
            return
        }
        queue.maxQueuedOperationCount = .max
        queue.isSuspended = true
        let accepted = queue.addOperation([.timeout(untilStart: .milliseconds(100)), .clock(clock)]) {}
        #expect(!accepted.isFinished)
        queue.isSuspended = false
        gates[1].open()
        try await waiting.value
        try await accepted.value
    }

    @Test("The events of a refused operation end with its error")
    func observers() async throws {
        let queue = try await busyQueue()
        let kinds = Recorder<String>()
        let observer = KindObserver(kinds)
        queue.addObserver(observer)
        queue.addOperation([.name("late"), .timeout(untilStart: .milliseconds(100)), .clock(clock)]) {}
        await until { kinds.events.count == 3 }
        #expect(kinds.events == ["added", "ready", "failed"])
        gates[1].open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    private final class KindObserver: TaskOperationObserver {
        private let kinds: Recorder<String>

        init(_ kinds: Recorder<String>) { self.kinds = kinds }

        func operationChanged(_ event: TaskOperationEvent) {
            guard event.operation.name == "late" else { return }
            switch event.kind {
            case .finished(.failed(TaskOperationError.overloaded)): kinds.record("failed")
            default: kinds.record("\(event.kind)")
            }
        }
    }
}
