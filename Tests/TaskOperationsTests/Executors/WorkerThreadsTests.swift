import Dispatch
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("A bounded set of threads")
struct WorkerThreadsTests {
    @Test("idle threads end, and work that comes afterwards gets new ones")
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

    @Test("work that comes as a thread ends for idleness is done")
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

    @Test("a closed set does what it was given, and refuses more once its threads have ended")
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

@Suite("A line of work")
struct WorkLineTests {
    @Test("elements leave in the order in which they came, whenever they are asked for")
    func order() {
        var line = WorkLine<Int>()
        var expected: [Int] = []
        var state: UInt64 = 1
        for number in 0..<1000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            switch (state >> 33) % 5 {
            case 0, 1, 2:
                line.append(number)
                expected.append(number)
            case 3:
                #expect(line.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
            default:
                line.removeAll { $0 % 7 == 0 }
                expected.removeAll { $0 % 7 == 0 }
            }
            #expect(line.count == expected.count && line.isEmpty == expected.isEmpty)
        }
        while let element = line.popFirst() { #expect(element == expected.removeFirst()) }
        #expect(expected.isEmpty)
    }
}
