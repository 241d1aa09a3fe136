import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Newest first", .inTurns, .endsInTime)
struct OrderTests {
    @Test("Within a priority the last added operation starts first, and a higher priority starts before")
    func order() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, order: .lastInFirstOut, isSuspended: true))
        let recorder = Recorder<Int>()
        for number in 0..<6 {
            queue.addOperation(priority: number < 2 ? .high : .medium) { recorder.record(number) }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == [1, 0, 5, 4, 3, 2])
    }

    @Test("Operations that are added while the queue drains start before waiting ones", arguments: [1, 3, 100])
    func whileDraining(waiting: Int) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, order: .lastInFirstOut, isSuspended: true))
        let recorder = Recorder<Int>()
        for number in 0..<waiting {
            queue.addOperation {
                recorder.record(number)
                if number == waiting / 2 { for new in 0..<2 { queue.addOperation { recorder.record(1000 + new) } } }
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        let rest = (0..<waiting).reversed().map { $0 }
        let middle = rest.firstIndex(of: waiting / 2)!
        let expected: [Int] = rest[...middle] + [1001, 1000] + rest[(middle + 1)...]
        #expect(recorder.events == expected)
    }

    @Test("A barrier keeps its place")
    func barriers() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, order: .lastInFirstOut, isSuspended: true))
        let recorder = Recorder<String>()
        for name in ["a", "b"] { queue.addOperation { recorder.record(name) } }
        queue.addBarrier { recorder.record("barrier") }
        for name in ["c", "d"] { queue.addOperation { recorder.record(name) } }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(Set(recorder.events[..<2]) == ["a", "b"] && recorder.events[2] == "barrier")
    }

    @Test("Tens of thousands are served, the newest first")
    func veryMany() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, order: .lastInFirstOut, isSuspended: true))
        let recorder = Recorder<Int>()
        let count = isDeep ? 100_000 : 20_000
        for number in 0..<count { queue.addOperation { recorder.record(number) } }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == (0..<count).reversed())
    }
}

@Suite("Weights", .inTurns, .endsInTime)
struct WeightTests {
    @Test("Bodies take no more permits than there are, and one heavier than all runs alone", arguments: [1, 2, 5])
    func permits(width: Int) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: width, isSuspended: true))
        let taken = Recorder<Int>()
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let weight = Int.random(in: 1...7, using: &random)
            queue.addOperation(.weight(weight)) {
                taken.record(weight)
                await Task.yield()
                taken.record(-weight)
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        var (sum, count) = (0, 0)
        for weight in taken.events {
            sum += weight
            count += weight.signum()
            #expect(sum <= width || count == 1)
        }
        #expect(taken.events.count == 600)
    }

    @Test("A light one does not overtake a heavy one that waits")
    func noOvertaking() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let recorder = Recorder<String>()
        let gate = Gate()
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addOperation(.weight(2)) { recorder.record("heavy") }
        for _ in 0..<20 { queue.addOperation { recorder.record("light") } }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events.first == "heavy" && recorder.events.count == 21)
    }

    @Test(
        "A heavy body that awaits an operation which needs its permits lends all, and has all back before it continues")
    func lending() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let recorder = Recorder<String>()
        let heavy = queue.addOperation(.weight(3)) {
            let inner = (0..<3).map { number in queue.addOperation { recorder.record("inner") } }
            for operation in inner { try await operation.value }
            recorder.record("outer")
        }
        try await heavy.value
        #expect(recorder.events == ["inner", "inner", "inner", "outer"])
    }

    @Test("With a width of 0 no operation of any weight starts; a cancelled heavy one delays no other")
    func noWidth() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 0)
        let heavy = queue.addOperation(.weight(9)) {}
        let light = queue.addOperation { 1 }
        #expect(heavy.isReady && light.isReady)
        heavy.cancel()
        queue.maxConcurrentOperationCount = 1
        #expect(try await light.value == 1)
    }

    @Test("Weights out of range stop the process with a message", .prompt)
    func badValues() async {
        let low = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TaskOperation {}.addOptions(.weight(0))
        }
        #expect(low.errorText.contains("weight is 0; it must be from 1 to 32767"))
        let high = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().addOperation(.weight(40_000)) {}
        }
        #expect(high.errorText.contains("weight is 40000; it must be from 1 to 32767"))
    }
}
