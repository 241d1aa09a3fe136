import Dispatch
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Threads for old code", .inTurns)
struct LegacyThreadsTests {
    private let threads = LegacyThreads()

    @Test("work that blocks until later work is done does not keep that from a thread", .endsInTime)
    func blockedByLaterWork() async {
        let blockers = TaskOperationQueue.defaultMaxConcurrentOperationCount * 2
        for _ in 0..<100 {
            let semaphore = DispatchSemaphore(value: 0)
            let done = Gate()
            // Runs short work first, so that some threads are looking for more work at this moment.
            threads.run {}
            for _ in 0..<blockers {
                threads.run {
                    block(on: semaphore)
                    Task { await done.pass() }
                }
            }
            threads.run { for _ in 0..<blockers { semaphore.signal() } }
            await done.waitForArrivals(blockers)
            done.open()
        }
    }

    @Test("all work is done once, from any thread")
    func many() async {
        let runs = ConcurrencyMeter()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { [threads] in
                    for _ in 0..<1000 { threads.run { runs.enter() } }
                }
            }
        }
        await until { runs.total == 4000 }
    }

    @Test("a call of a thread is over when its function has returned, be that short or long")
    func calls() async {
        let semaphore = DispatchSemaphore(value: 0)
        let events = Recorder<String>()
        await threads.call { events.record("short") }
        async let long: Void = threads.call {
            block(on: semaphore)
            events.record("long")
        }
        await threads.call { events.record("another") }
        semaphore.signal()
        await long
        #expect(events.events == ["short", "another", "long"])
    }
}
