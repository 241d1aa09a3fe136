import Dispatch
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsExtras

@Suite("A bounded set of threads", .inTurns)
struct WorkerThreadsTests {
    @Test("idle threads end, and later work gets new ones")
    func idleThreadsEnd() async {
        let threads = WorkerThreads(name: "idle", maxCount: 3, idleTime: 0.001)
        for _ in 0..<20 {
            let done = Gate()
            for _ in 0..<5 { #expect(threads.submit { Task { await done.pass() } }) }
            await done.waitForArrivals(5)
            done.open()
            await until { threads.count == 0 }
        }
    }

    @Test("work that is submitted while an idle thread ends is done")
    func workAtTheEnd() async {
        let threads = WorkerThreads(name: "short", maxCount: 1, idleTime: 0)
        let done = Gate()
        for number in 1...2000 {
            #expect(threads.submit { Task { await done.pass() } })
            if number % 3 == 0 { await Task.yield() }
        }
        await done.waitForArrivals(2000)
        done.open()
    }

    @Test("a closed set finishes submitted work, and refuses later work")
    func close() async {
        let threads = WorkerThreads(name: "closed", maxCount: 2, idleTime: nil)
        let semaphore = DispatchSemaphore(value: 0)
        let runs = ConcurrencyMeter()
        for _ in 0..<10 {
            _ = threads.submit {
                block(on: semaphore)
                runs.enter()
            }
        }
        let ended = Gate()
        threads.close { Task { await ended.pass() } }
        #expect(threads.submit { runs.enter() })
        for _ in 0..<10 { semaphore.signal() }
        await ended.waitForArrivals(1)
        ended.open()
        #expect(runs.total == 11)
        #expect(threads.count == 0)
        #expect(!threads.submit {})
    }

    @Test("a set that is closed twice, or before it was used, tells each time")
    func closeUnused() async {
        let threads = WorkerThreads(name: "unused", maxCount: 2, idleTime: nil)
        let ends = ConcurrencyMeter()
        threads.close { ends.enter() }
        threads.close { ends.enter() }
        #expect(ends.total == 2)
    }
}

// MARK: - A system without threads to give

extension WorkerThreadsTests {
    /// Returns worker threads that are real, except that the first attempts to start one fail.
    private func threads(refusing count: Int, maxCount: Int, attempts: ConcurrencyMeter) -> WorkerThreads {
        WorkerThreads(name: "scarce", maxCount: maxCount, idleTime: nil) { body in
            attempts.enter()
            return attempts.total <= count ? 11 : SystemThread.start(name: "scarce", body: body)
        }
    }

    @Test("work is done later if no thread can be started at first")
    func noThreadAtFirst() async {
        let attempts = ConcurrencyMeter()
        let threads = threads(refusing: 5, maxCount: 1, attempts: attempts)
        let done = Gate()
        #expect(threads.submit { Task { await done.pass() } })
        await done.waitForArrivals(1)
        done.open()
        #expect(attempts.total >= 6)
        #expect(threads.count == 1)
        threads.close()
    }

    @Test("the threads that there are do all work if no more can be started")
    func fewThreads() async {
        let semaphore = DispatchSemaphore(value: 0)
        let hasThread = Lock(false)
        let threads = WorkerThreads(name: "only", maxCount: 8, idleTime: nil) { body in
            let isFirst = hasThread.withLock { hasThread in
                defer { hasThread = true }
                return !hasThread
            }
            return isFirst ? SystemThread.start(name: "only", body: body) : 11
        }
        let done = Gate()
        let workers = Recorder<ObjectIdentifier>()
        #expect(threads.submit { block(on: semaphore) })
        for _ in 0..<100 {
            let isTaken = threads.submit {
                workers.record(currentThreadIdentity())
                Task { await done.pass() }
            }
            #expect(isTaken)
        }
        semaphore.signal()
        await done.waitForArrivals(100)
        done.open()
        #expect(Set(workers.events).count == 1)
        threads.close()
    }

    @Test("a set that is closed without a thread finishes submitted work, and then reports its end")
    func closedWithoutThread() async {
        let threads = threads(refusing: 3, maxCount: 2, attempts: ConcurrencyMeter())
        let runs = ConcurrencyMeter()
        let ended = Gate()
        for _ in 0..<3 { #expect(threads.submit { runs.enter() }) }
        threads.close { Task { await ended.pass() } }
        await ended.waitForArrivals(1)
        ended.open()
        #expect(runs.total == 3)
        #expect(!threads.submit {})
    }
}

// MARK: - Lanes

extension WorkerThreadsTests {
    @Test("a lane whose work blocks holds up no other, and occupies no more threads than it may")
    func lanes() async {
        let threads = WorkerThreads(name: "lanes", maxCount: .max, idleTime: 0)
        let blocked = threads.makeLane(maxCount: 3)
        let semaphore = DispatchSemaphore(value: 0)
        let meter = ConcurrencyMeter()
        let done = Gate()
        for _ in 0..<20 {
            #expect(
                blocked.submit {
                    meter.enter()
                    block(on: semaphore)
                    meter.leave()
                    Task { await done.pass() }
                })
        }
        await until { meter.now == 3 }
        let other = threads.makeLane(maxCount: 1)
        let order = Recorder<Int>()
        let otherIsDone = Gate()
        for number in 0..<50 {
            #expect(
                other.submit {
                    order.record(number)
                    Task { await otherIsDone.pass() }
                })
        }
        await otherIsDone.waitForArrivals(50)
        otherIsDone.open()
        #expect(order.events == Array(0..<50))
        #expect((meter.now, meter.most) == (3, 3))
        for _ in 0..<20 { semaphore.signal() }
        await done.waitForArrivals(20)
        done.open()
        await until { threads.count == 0 }
    }

    @Test("lanes take turns, so that a long one does not keep a short one waiting")
    func turns() async {
        let threads = WorkerThreads(name: "turns", maxCount: 1, idleTime: 0)
        let semaphore = DispatchSemaphore(value: 0)
        #expect(threads.submit { block(on: semaphore) })
        let order = Recorder<String>()
        let done = Gate()
        let (long, short) = (threads.makeLane(maxCount: 4), threads.makeLane(maxCount: 4))
        for (lane, name, count) in [(long, "long", 5), (short, "short", 2)] {
            for _ in 0..<count {
                _ = lane.submit {
                    order.record(name)
                    Task { await done.pass() }
                }
            }
        }
        semaphore.signal()
        await done.waitForArrivals(7)
        done.open()
        #expect(order.events == ["long", "short", "long", "short", "long", "long", "long"])
    }

    @Test("a released lane finishes submitted work")
    func releasedLane() async {
        let threads = WorkerThreads(name: "released", maxCount: 2, idleTime: 0)
        let done = Gate()
        for _ in 0..<100 {
            let lane = threads.makeLane(maxCount: 1)
            for _ in 0..<3 { #expect(lane.submit { Task { await done.pass() } }) }
        }
        await done.waitForArrivals(300)
        done.open()
    }
}
