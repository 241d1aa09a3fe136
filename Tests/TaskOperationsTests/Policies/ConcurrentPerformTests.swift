import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

@Suite("Concurrent perform", .inTurns)
struct ConcurrentPerformTests {
    @Test("every element is visited once, for any width and stride", arguments: [1, 2, 7], [1, 3, 64, 1000])
    func everyElement(width: Int, stride: Int) async {
        for count in [0, 1, 2, 63, 64, 65, 500] {
            let visited = Recorder<Int>()
            await concurrentPerform(over: 0..<count, width: width, stride: stride) { visited.record($0) }
            #expect(visited.events.sorted() == Array(0..<count))
        }
    }

    @Test("collections are visited in portions of consecutive elements, in order")
    func collection() async {
        let visited = Recorder<Character>()
        await concurrentPerform(over: Array("operations")[2...], width: 1, stride: 3) { visited.record($0) }
        #expect(visited.events == Array("erations"))
    }

    @Test("exactly as many are worked on at once as the width says")
    func width() async {
        let gate = Gate()
        let meter = ConcurrencyMeter()
        async let all: Void = concurrentPerform(over: 0..<20, width: 4) { _ in
            await meter.measure { await gate.pass() }
        }
        await gate.waitForArrivals(4)
        #expect(meter.now == 4)
        gate.open()
        await all
        #expect(meter.most == 4)
        #expect(meter.total == 20)
    }

    @Test("an error ends it: the others are cancelled and waited for, and no further element is begun")
    func error() async {
        let visited = Recorder<Int>()
        let cancelled = Recorder<Int>()
        await #expect(throws: Refusal()) {
            try await concurrentPerform(over: 0..<100, width: 2, stride: 2) { number in
                visited.record(number)
                if number == 1 {
                    await until { visited.events.count >= 3 }
                    throw Refusal()
                }
                if number == 2 {
                    await until { Task.isCancelled }
                    cancelled.record(number)
                }
            }
        }
        #expect(visited.events.sorted() == [0, 1, 2])
        #expect(cancelled.events == [2])
    }

    @Test("After an error, the rest of a large portion takes no time")
    func restOfPortion() throws {
        let ratio = try bestRatio(within: 50) { isLarge in
            try processorTimeOnOneThread { executor in
                let (stride, failed) = (isLarge ? 10_000_000 : 100, Gate())
                let perform = Task(executorPreference: executor) {
                    try await concurrentPerform(over: 0..<stride * 2, width: 2, stride: stride) { number in
                        if number == 0 { return await failed.pass() }
                        failed.open()
                        throw Refusal()
                    }
                }
                await #expect(throws: Refusal()) { try await perform.value }
            }
        }
        #expect(ratio < 50)
    }

    @Test("cancelling the caller cancels the work, which continues if it does not throw")
    func cancellation() async throws {
        let gate = Gate()
        let visited = Recorder<Bool>()
        let lasting = Task {
            await concurrentPerform(over: 0..<10, width: 2) { _ in
                await gate.pass()
                visited.record(Task.isCancelled)
            }
        }
        let throwing = Task {
            try await concurrentPerform(over: 0..<10, width: 2) { _ in
                await gate.pass()
                try Task.checkCancellation()
            }
        }
        await gate.waitForArrivals(4)
        lasting.cancel()
        throwing.cancel()
        gate.open()
        await lasting.value
        #expect(visited.events == [Bool](repeating: true, count: 10))
        await #expect(throws: CancellationError.self) { try await throwing.value }
    }

    @Test("work within an operation's body has that as the current operation")
    func currentOperation() async throws {
        let queue = TaskOperationQueue()
        let found = Recorder<AnyTaskOperation?>()
        let operation = queue.addOperation {
            await concurrentPerform(over: 0..<8, width: 4) { _ in found.record(AnyTaskOperation.current) }
        }
        try await operation.value
        #expect(found.events == [AnyTaskOperation?](repeating: operation, count: 8))
    }
}
