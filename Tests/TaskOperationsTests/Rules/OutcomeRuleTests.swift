import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 1: one outcome each, and a body runs at most once", .inTurns, .endsInTime)
struct OutcomeRuleTests {
    @Test("Every operation ends with exactly one outcome and runs once")
    func everyOperationRunsOnce() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let runs = Recorder<Int>()
        let operations = (0..<1000).map { number in
            queue.addOperation { () -> Int in
                runs.record(number)
                return number
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.events.sorted() == Array(0..<1000))
        for (number, operation) in operations.enumerated() { #expect(try operation.outcome?.get() == number) }
    }

    @Test("Where cancelling races with starting, the outcome tells whether the body ran")
    func outcomeTellsWhetherTheBodyRan() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let runs = Recorder<Int>()
        let operations = (0..<2000).map { number in
            TaskOperation { runs.record(number) }
        }
        async let cancelling: Void = {
            for operation in operations.reversed() { operation.cancel() }
        }()
        for operation in operations { try queue.addOperation(operation) }
        await cancelling
        try await queue.waitUntilAllOperationsAreFinished()
        let succeeded = operations.indices.filter { operations[$0].failure == nil }
        #expect(runs.events.sorted() == succeeded)
        #expect(operations.allSatisfy { $0.failure is CancellationError? && $0.outcome != nil })
    }

    @Test("An outcome does not change")
    func outcomeStays() async throws {
        let queue = TaskOperationQueue()
        let failed = queue.addOperation { throw WorkFailed(number: 7) }
        let succeeded = queue.addOperation { 7 }
        try await queue.waitUntilAllOperationsAreFinished()
        failed.cancel()
        succeeded.cancel()
        queue.cancelAllOperations()
        queue.shutDown(.cancel)
        refusal { try queue.addOperation(failed) }
        #expect(failed.failure as? WorkFailed == WorkFailed(number: 7))
        #expect(try await succeeded.value == 7)
    }

    @Test("All callers get the same outcome")
    func everybodyGetsTheSameOutcome() async throws {
        let runs = Recorder<Int>()
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation {
            await gate.pass()
            runs.record(0)
            return runs.events.count
        }
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await operation.value } }
            await gate.waitForArrivals(1)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 50))
    }
}
