import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The record of an operation", .inTurns, .endsInTime)
struct OperationRecordTests {
    @Test("An ended operation refers to no queue and no task")
    func ended() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let succeeded = queue.addOperation {}
        let failed = queue.addOperation { throw CancellationError() }
        let executing = queue.addOperation { await gate.pass() }
        let pending = queue.addOperation {}
        await gate.waitForArrivals(1)
        executing.cancel()
        pending.cancel()
        gate.open()
        for operation in [succeeded, failed, executing, pending] as [AnyTaskOperation] {
            try await operation.waitUntilFinished()
            #expect(operation.phase == .finished && operation.worker == nil)
            operation.record.withLock { #expect($0.scheduler == nil && $0.links == nil) }
        }
    }
}
