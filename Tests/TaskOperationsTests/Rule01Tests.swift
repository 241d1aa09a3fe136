import TaskOperations
import TaskOperationsTesting
import Testing

@Suite("Rule 1: one outcome each, and a body runs at most once")
struct Rule01Tests {
    @Test("Rule 1: every operation ends with exactly one outcome and runs once")
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
}
