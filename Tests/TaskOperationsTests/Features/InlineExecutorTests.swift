import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

/// The use of the stack must not grow with the number of operations. The tests measure it, because an overflow depends
/// on the stack size of the thread.
@Suite("An executor that runs jobs inline", .inTurns, .endsInTime)
struct InlineExecutorTests {
    private static let limit = 250_000

    @Test("Many operations are ready", arguments: [1, 2, .max])
    func manyReady(width: Int) async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: width, isSuspended: true, executor: InlineExecutor()))
        let depth = StackDepth()
        for _ in 0..<5000 { queue.addOperation { depth.measure() } }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(depth.range < Self.limit)
    }

    @Test("Every operation takes as long as a slice of time")
    func longOperations() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, isSuspended: true, executor: InlineExecutor()))
        let depth = StackDepth()
        for _ in 0..<1000 {
            queue.addOperation {
                depth.measure()
                let end = ContinuousClock.now + .milliseconds(1)
                while ContinuousClock.now < end {}
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(depth.range < Self.limit)
    }

    @Test("A chain goes through one queue, or to and fro between several", arguments: [1, 2, 3])
    func chain(queueCount: Int) async throws {
        let executor = InlineExecutor()
        let queues = (0..<queueCount).map { _ in TaskOperationQueue(.init(executor: executor)) }
        let depth = StackDepth()
        let first = TaskOperation { depth.measure() }
        var last: AnyTaskOperation = first
        for number in 1..<5000 {
            last = queues[number % queueCount].addOperation(dependencies: [last]) { depth.measure() }
        }
        try queues[0].addOperation(first)
        await last.end()
        #expect(depth.range < Self.limit)
    }

    @Test("Every body awaits the operation behind it")
    func awaitingBodies() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: .max, executor: InlineExecutor()))
        let depth = StackDepth()
        var next = TaskOperation { depth.measure() }
        let last = next
        var first = next
        for _ in 0..<(isDeep ? 5000 : 1000) {
            let awaited = next
            next = TaskOperation {
                try await awaited.value
                depth.measure()
            }
            try queue.addOperation(next)
            first = next
        }
        try queue.addOperation(last)
        try await first.value
        #expect(depth.range < Self.limit)
    }

    @Test("Cancelling an operation lets its waiters continue one after the other")
    func cancelledChain() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true, executor: InlineExecutor()))
        let depth = StackDepth()
        let first = queue.addOperation {}
        let waiting = (0..<2000).map { _ in
            Task(executorPreference: InlineExecutor()) {
                _ = await first.result
                depth.measure()
            }
        }
        first.cancel()
        for task in waiting { await task.value }
        queue.isSuspended = false
        #expect(depth.range < Self.limit)
    }
}

/// Measures the distance between the highest and the lowest call on the stack of one thread.
private final class StackDepth: Sendable {
    private let addresses = Lock<[UInt: (lowest: UInt, highest: UInt)]>([:])

    func measure() {
        var place: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &place) { UInt(bitPattern: $0) }
        let thread = currentThread
        addresses.withLock { addresses in
            let known = addresses[thread] ?? (address, address)
            addresses[thread] = (min(known.lowest, address), max(known.highest, address))
        }
    }

    var range: UInt { addresses.withLock { $0.values.map { $0.highest - $0.lowest }.max() ?? 0 } }
}

extension AnyTaskOperation {
    fileprivate func end() async { try? await waitUntilFinished() }
}
