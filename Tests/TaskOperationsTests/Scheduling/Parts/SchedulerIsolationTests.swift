import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("The executor of a scheduler")
struct SchedulerIsolationTests {
    @Test("It says that a job of the actor is isolated, and that other code is not")
    func isolation() async {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let scheduler = queue.scheduler
        #expect(scheduler.isIsolatingCurrentContext() == false)
        let isIsolated = await scheduler.apply { core in
            scheduler.checkIsolated()
            return core.state.isEmpty && scheduler.isIsolatingCurrentContext() == true
        }
        #expect(isIsolated)
        #expect(scheduler.withCore { _ in scheduler.isIsolatingCurrentContext() } == false)
    }

    @Test("Code that is not isolated to it fails the check")
    func check() async {
        await #expect(processExitsWith: .failure) {
            TaskOperationQueue(maxConcurrentOperationCount: 1).scheduler.checkIsolated()
        }
    }
}
