import Dispatch
import TaskOperations
import TaskOperationsExtras
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Whether a thread is one of the cooperative pool", .inTurns)
struct CooperativePoolTests {
    @Test("a task of any priority runs on a thread of the pool", arguments: [9, 17, 21, 25, 33])
    func tasks(priority: UInt8) async {
        #expect(await Task.detached(priority: TaskPriority(rawValue: priority)) { CooperativePool.isCurrent }.value)
    }

    @Test("threads of Dispatch, of executors, and the main thread are none")
    func others() async throws {
        #expect(try await !DispatchQueue.global().run { CooperativePool.isCurrent })
        #expect(try await !DispatchQueue(label: "serial").run { CooperativePool.isCurrent })
        #expect(try await !BlockingExecutor(maxThreadCount: 1).run { CooperativePool.isCurrent })
        #expect(try await !onThread { CooperativePool.isCurrent })
        #expect(await MainActor.run { !CooperativePool.isCurrent })
    }
}
