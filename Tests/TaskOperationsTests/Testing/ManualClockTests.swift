import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("ManualClock", .inTurns, .endsInTime)
struct ManualClockTests {
    private let clock = ManualClock()
    private let awake = Recorder<Int>()

    private func sleeper(_ seconds: Int) -> Task<Void, any Error> {
        Task {
            try await clock.sleep(for: .seconds(seconds))
            awake.record(seconds)
        }
    }

    @Test("The clock wakes only the tasks whose deadlines have come")
    func wakesWhoIsDue() async throws {
        let sleepers = [3, 1, 2].map { sleeper($0) }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(2))
        try await sleepers[1].value
        try await sleepers[2].value
        #expect(clock.sleeperCount == 1)
        #expect(awake.events.sorted() == [1, 2])
        clock.advance(by: .seconds(1))
        try await sleepers[0].value
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("earlier deadlines wake first, and equal ones in the order of falling asleep")
    func wakesInOrder() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        var sleepers: [Task<Void, any Error>] = []
        for (number, seconds) in [3, 1, 2, 1].enumerated() {
            // The continuations resume in order. Each one passes its number to a queue that preserves the order.
            sleepers.append(
                Task.immediateDetached {
                    try await clock.sleep(until: .init(offset: .seconds(seconds)))
                    queue.addOperation { awake.record(number) }
                })
        }
        await clock.waitForSleepers(4)
        for _ in 0..<3 {
            let before = clock.sleeperCount
            clock.advance(by: .seconds(1))
            #expect(clock.sleeperCount < before)
            while awake.events.count < 4 - clock.sleeperCount { await Task.yield() }
        }
        for sleeper in sleepers { try await sleeper.value }
        #expect(awake.events.first == 1 || awake.events.first == 3)
        #expect(Array(awake.events.suffix(2)) == [2, 0])
    }

    @Test("a cancelled task wakes at once, before or during its sleep")
    func cancelled() async {
        let sleeping = sleeper(1)
        await clock.waitForSleepers(1)
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("a deadline that has passed is no wait")
    func passed() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .init(offset: .seconds(5)))
        try await clock.sleep(until: .init())
    }
}
