import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("operationCount and isFinished agree at every moment", .inTurns, .endsInTime)
struct CountingTests {
    @Test("An operation that says that it is finished no longer counts", arguments: Ending.allCases)
    func finishedDoesNotCount(ending: Ending) async {
        for _ in 0..<(isDeep ? 2000 : 500) {
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: ending == .cancelled))
            let operation = queue.addOperation {}
            ending.prepare(operation)
            async let cancelled: Void = ending == .cancelled ? operation.cancel() : ()
            while !operation.isFinished { await Task.yield() }
            #expect(queue.operationCount == 0)
            #expect(queue.operations == [])
            await cancelled
        }
    }

    @Test("An operation that no longer counts says that it is finished", arguments: Ending.allCases)
    func uncountedIsFinished(ending: Ending) async {
        for _ in 0..<(isDeep ? 2000 : 500) {
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: ending == .cancelled))
            let operation = queue.addOperation {}
            ending.prepare(operation)
            async let cancelled: Void = ending == .cancelled ? operation.cancel() : ()
            while queue.operationCount > 0 { await Task.yield() }
            #expect(operation.isFinished)
            await cancelled
        }
    }

    @Test("Of many that run, those that are finished and those that count are all")
    func crowds() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let operations = (0..<2000).map { _ in queue.addOperation {} }
        queue.isSuspended = false
        while true {
            let finished = operations.count(where: \.isFinished)
            let counted = queue.operationCount
            #expect(finished + counted <= operations.count)
            if counted == 0 { break }
            await Task.yield()
        }
        #expect(operations.allSatisfy { $0.isFinished })
    }

    enum Ending: CaseIterable {
        case plain, withHandler, withDependent, cancelled

        func prepare(_ operation: TaskOperation<Void>) {
            if self == .withHandler { operation.addCompletionHandler {} }
            if self == .withDependent { TaskOperationQueue().addOperation(dependencies: [operation]) {} }
        }
    }
}
