import Dispatch
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

/// A Dispatch queue that code can identify while it runs on the queue.
struct MarkedQueue: Sendable {
    private static let key = DispatchSpecificKey<String>()

    let queue: DispatchQueue

    init(_ label: String, attributes: DispatchQueue.Attributes = []) {
        queue = DispatchQueue(label: label, attributes: attributes)
        queue.setSpecific(key: Self.key, value: label)
    }

    /// The label of the queue that executes the caller; nil on another thread.
    static var current: String? { DispatchQueue.getSpecific(key: key) }
}

@Suite("Dispatch queues", .inTurns)
struct DispatchQueueTests {
    @Test("a task with a Dispatch queue as its executor runs there, before and after suspending")
    func executor() async {
        let marked = MarkedQueue("executor")
        let labels = await Task(executorPreference: DispatchQueueExecutor(marked.queue)) {
            let before = MarkedQueue.current
            await Task.yield()
            return [before, MarkedQueue.current]
        }.value
        #expect(labels == ["executor", "executor"])
        #expect(MarkedQueue.current == nil)
    }

    @Test("nothing starts on a queue of width 0 until the width is raised", .schedules(20))
    func widthZero() async throws {
        let queue = TaskOperationQueue(underlyingQueue: .global(), .init(maxConcurrentOperationCount: 0))
        let operation = queue.addOperation {}
        await untilOthersWait()
        #expect(operation.state == .ready)
        queue.maxConcurrentOperationCount = 1
        try await operation.value
    }

    @Test("bodies of a queue with an underlying queue run there, and it is named after it")
    func underlyingQueue() async throws {
        let marked = MarkedQueue("underlying", attributes: .concurrent)
        let queue = TaskOperationQueue(underlyingQueue: marked.queue, .init(maxConcurrentOperationCount: 3))
        let meter = ConcurrencyMeter()
        let labels = Recorder<String?>()
        for _ in 0..<50 {
            queue.addOperation {
                await meter.measure {
                    labels.record(MarkedQueue.current)
                    await Task.yield()
                    labels.record(MarkedQueue.current)
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.name == "underlying")
        #expect(labels.events == [String?](repeating: "underlying", count: 100))
        #expect(meter.most <= 3)
    }

    @Test("the value and the error of a block are returned from its queue")
    func run() async throws {
        let marked = MarkedQueue("run")
        #expect(try await marked.queue.run { MarkedQueue.current } == "run")
        await #expect(throws: Refusal()) { try await marked.queue.run { throw Refusal() } }
    }

    @Test("a block whose task is cancelled before it starts does not run, and the task continues at once")
    func runCancelled() async throws {
        let queue = DispatchQueue(label: "held")
        queue.suspend()
        let runs = Recorder<String>()
        let task = Task.immediate { try await queue.run { runs.record("ran") } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        queue.resume()
        try await queue.run {}
        #expect(runs.events.isEmpty)
    }

    @Test("a block that has started is waited for in spite of a cancellation")
    func runCancelledLate() async throws {
        let queue = DispatchQueue(label: "busy")
        let hasStarted = Gate()
        let semaphore = DispatchSemaphore(value: 0)
        let task = Task {
            try await queue.run {
                Task { await hasStarted.pass() }
                block(on: semaphore)
                return "ran"
            }
        }
        await hasStarted.waitForArrivals(1)
        task.cancel()
        semaphore.signal()
        #expect(try await task.value == "ran")
    }

    @Test("a barrier on a concurrent queue runs alone, after earlier blocks and before later ones")
    func barrier() async throws {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        queue.suspend()
        let meter = ConcurrencyMeter()
        let order = Recorder<String>()
        func submit(_ name: String, isBarrier: Bool = false) -> Task<Int, any Error> {
            Task.immediate {
                try await queue.run(flags: isBarrier ? .barrier : []) {
                    meter.enter()
                    defer { meter.leave() }
                    order.record(name)
                    return meter.now
                }
            }
        }
        let before = (0..<10).map { _ in submit("before") }
        let barrier = submit("barrier", isBarrier: true)
        let after = (0..<10).map { _ in submit("after") }
        queue.resume()
        for task in before + after { _ = try await task.value }
        #expect(try await barrier.value == 1)
        #expect(
            order.events == Array(repeating: "before", count: 10) + ["barrier"] + Array(repeating: "after", count: 10))
    }
}
