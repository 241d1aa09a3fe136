import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Faults of other libraries: lost permits", .inTurns, .endsInTime)
struct FailureTestsPermits {
    @Test("Elsewhere a permit was lost when a wait was cancelled early")
    func cancelledEarly() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        for _ in 0..<1000 {
            let task = Task { try await semaphore.withPermit {} }
            task.cancel()
            _ = await task.result
        }
        #expect((semaphore.available, semaphore.waitingCount) == (1, 0))
    }

    @Test("Elsewhere a permit was lost, or a deadlock followed, when a body threw")
    func throwingBodies() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        for number in 0..<500 {
            queue.addOperation {
                if number.isMultiple(of: 3) { await Task.yield() }
                if number.isMultiple(of: 5) { try await queue.run { throw WorkFailed() } }
                throw WorkFailed()
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        try await expectAllPermits(of: queue)
    }

    @Test("Elsewhere a cancelled operation kept its slot, whether it waited, executed or awaited")
    func cancelledOperations() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let gate = Gate()
        let executing = queue.addOperation { await gate.pass() }
        let awaiting = try await LentBody(on: queue, until: gate)
        await gate.waitForArrivals(2)
        let waiting = (0..<10).map { _ in queue.addOperation(dependencies: [awaiting.awaited]) {} }
        for operation in waiting + [executing, awaiting.body] { operation.cancel() }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        try await expectAllPermits(of: queue)
    }

    @Test("Elsewhere slots were lost in a storm of cancellations", arguments: 1...5)
    func storm(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let operations = (0..<500).map { number in
            queue.addOperation {
                if number.isMultiple(of: 4) { _ = try? await queue.run { await Task.yield() } }
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        for operation in operations.shuffled(using: &random) where Bool.random(using: &random) {
            operation.cancel()
            await Task.yield()
        }
        try await queue.waitUntilAllOperationsAreFinished()
        try await expectAllPermits(of: queue)
    }

    @Test("Elsewhere a width that changed in the midst of it all left too many permits, or too few")
    func changingWidth() async throws {
        var random = SeededGenerator(seed: 3)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        for number in 0..<500 {
            queue.addOperation {
                await Task.yield()
                if number.isMultiple(of: 7) { try await queue.run {} }
            }
            queue.maxConcurrentOperationCount = Int.random(in: 1...5, using: &random)
            await Task.yield()
        }
        queue.maxConcurrentOperationCount = 3
        try await queue.waitUntilAllOperationsAreFinished()
        try await expectAllPermits(of: queue)
    }

    /// Expects that the number of bodies that can execute at once equals the width.
    private func expectAllPermits(
        of queue: TaskOperationQueue, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (gate, meter) = (Gate(), ConcurrencyMeter())
        let width = queue.maxConcurrentOperationCount
        for _ in 0..<width * 2 { queue.addOperation { await meter.measure { await gate.pass() } } }
        await gate.waitForArrivals(width)
        let taken = queue.scheduler.withCore { $0.state.width.taken }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(taken == width && meter.most == width, sourceLocation: sourceLocation)
    }
}
