import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Adapting a capacity")
struct AdaptiveCapacityTests {
    private struct Refusal: Error {}

    /// A rule that decides after each operation. After the first one, two that use the capacity double it.
    private static var rule: CapacityRule {
        var rule = CapacityRule()
        (rule.window, rule.sampleCount, rule.decrease) = (.zero, 1, 0.5)
        (rule.headroom, rule.smoothing) = (0.5, 1)
        return rule
    }

    @Test("The width of a queue increases while it is used, and decreases after refusals", .schedules(20))
    func width() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let capacity = queue.adaptCapacity(within: 1...8, by: Self.rule) { $0 is Refusal }
        for _ in 0..<3 { try await queue.addOperation {}.value }
        #expect(queue.maxConcurrentOperationCount == 2)
        try await queue.addOperation {}.value
        #expect(queue.maxConcurrentOperationCount == 2, "One body does not use a width of 2.")
        for _ in 0..<3 { _ = await queue.addOperation { throw Refusal() }.result }
        #expect(queue.maxConcurrentOperationCount == 1)
        #expect(capacity.capacity == 1)
    }

    @Test("A clock and a window of the longest duration are those of the longest supported one", .schedules(5))
    func longestDurations() async throws {
        let (clock, longest) = (ManualClock(), Duration(attoseconds: .max))
        var rule = CapacityRule()
        (rule.window, rule.sampleCount) = (longest, 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let capacity = queue.adaptCapacity(within: 1...8, by: rule, clock: clock)
        try await queue.addOperation { clock.advance(by: longest) }.value
        try await queue.addOperation {}.value
        #expect((1...8).contains(capacity.capacity))
    }

    @Test("The first width is moved into the bounds")
    func bounds() {
        let queue = TaskOperationQueue(
            maxConcurrentOperationCount: .max)
        #expect(queue.adaptCapacity(within: 2...8).capacity == 8)
        #expect(queue.maxConcurrentOperationCount == 8)
        let semaphore = AsyncSemaphore(capacity: 0)
        #expect(semaphore.adaptCapacity(within: 2...8).capacity == 2)
        #expect(semaphore.capacity == 2)
    }

    @Test("Only bodies that have the semaphore as a limit are measured", .schedules(20))
    func semaphore() async throws {
        let backend = AsyncSemaphore(capacity: 1)
        let capacity = backend.adaptCapacity(within: 1...8, by: Self.rule)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        capacity.measureBodies(of: queue)
        try await queue.addOperation {}.value
        #expect(backend.capacity == 1)
        for _ in 0..<3 { try await queue.addOperation(.limit(backend)) {}.value }
        #expect(backend.capacity == 2)
        try await backend.withPermit { await capacity.measure {} }
        #expect(backend.capacity == 2)
    }

    @Test("Timeouts count as refusals, and cancellations and other errors are ignored", .schedules(20))
    func errors() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        queue.adaptCapacity(within: 1...8, by: Self.rule, clock: clock)
        _ = await queue.addOperation { throw Refusal() }.result
        _ = await queue.addOperation { throw CancellationError() }.result
        #expect(queue.maxConcurrentOperationCount == 8)
        let late = queue.addOperation([.timeout(.seconds(1)), .clock(clock)]) {
            try await clock.sleep(for: .seconds(9))
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        _ = await late.result
        #expect(queue.maxConcurrentOperationCount == 4)
    }

    @Test("Latencies are measured by the given clock")
    func latencies() async {
        let clock = ManualClock()
        let semaphore = AsyncSemaphore(capacity: 1)
        var rule = CapacityRule()
        (rule.window, rule.sampleCount) = (.zero, 1)
        let capacity = semaphore.adaptCapacity(within: 1...8, by: rule, clock: clock)
        #expect(capacity.unloadedLatency == nil)
        await capacity.measure { clock.advance(by: .milliseconds(500)) }
        #expect(capacity.unloadedLatency == .milliseconds(500))
    }

    @Test("The last computed capacity is effective if many threads measure at once")
    func threads() async {
        let semaphore = AsyncSemaphore(capacity: 50)
        let capacity = semaphore.adaptCapacity(within: 1...100, by: Self.rule) { $0 is Refusal }
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for count in 0..<300 {
                        try? await capacity.measure { if (count + task) % 7 == 0 { throw Refusal() } }
                    }
                }
            }
        }
        #expect(semaphore.capacity == capacity.capacity)
    }

    @Test("The queue keeps the object, and the object does not keep the queue")
    func release() async throws {
        weak var queue: TaskOperationQueue?
        weak var capacity: AdaptiveCapacity?
        do {
            let owned = TaskOperationQueue()
            queue = owned
            capacity = owned.adaptCapacity(within: 1...4)
            #expect(capacity != nil)
            try await owned.addOperation {}.value
        }
        await until { queue == nil && capacity == nil }
    }
}
