import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Rounds of operations that are added and end, on one pair of queues.
///
/// `STRESS_OPERATIONS=5000000 swift test --filter SoakTests` runs that number of operations, and checks the resident
/// memory. The measurement is meaningful only while nothing else runs. Under the address sanitizer it is meaningless,
/// because the sanitizer keeps freed memory for a while.
@Suite("Soak", .inTurns, .timeLimit(.minutes(600)))
struct SoakTests {
    private static let wanted = ProcessInfo.processInfo.environment["STRESS_OPERATIONS"].flatMap { Int($0) }
    private static let perRound = 10_000

    @Test("None is lost, doubled or over the width, and memory stays as it is")
    func soak() async throws {
        let rounds = max(1, (Self.wanted ?? 50_000) / Self.perRound)
        let queues = [2, 3].map { TaskOperationQueue(maxConcurrentOperationCount: $0) }
        var resident: [Int] = []
        let start = ContinuousClock.now
        for round in 0..<rounds {
            try await run(on: queues, seed: UInt64(round))
            resident.append(residentKibibytes)
        }
        let (early, late) = (resident[rounds / 10], resident[rounds - 1])
        print(
            """
            soaked: \(rounds * Self.perRound) operations in \(ContinuousClock.now - start), resident memory \
            \(early) KiB after a tenth of them, \(resident.max()!) KiB at most, \(late) KiB at the end
            """)
        if Self.wanted != nil { #expect(late < early + 16 * 1024) }
    }

    private func run(on queues: [TaskOperationQueue], seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let rolls = queues.map { _ in Roll(Self.perRound) }
        var made: [TaskOperation<Int>] = []
        for number in 0..<Self.perRound {
            let target = random.number(below: 2)
            let roll = rolls[target]
            var dependencies: [AnyTaskOperation] = []
            if number > 0, random.happens(percent: 30) { dependencies = [made[random.number(below: number)]] }
            let operation = queues[target].addOperation(
                priority: [.low, .medium, .high][random.number(below: 3)], dependencies: dependencies
            ) {
                roll.enter(number)
                roll.leave()
                return number
            }
            made.append(operation)
            if random.happens(percent: 10) { made[random.number(below: made.count)].cancel() }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        var wrong = 0
        for (number, operation) in made.enumerated() {
            let runs = rolls[0].runs(of: number) + rolls[1].runs(of: number)
            let expected = operation.failure == nil ? 1 : 0
            if runs != expected || !operation.isFinished { wrong += 1 }
        }
        #expect(wrong == 0)
        for (roll, queue) in zip(rolls, queues) { #expect(roll.most <= queue.maxConcurrentOperationCount) }
    }

    /// The resident memory of the process in kibibytes; 0 if the system does not report it.
    private var residentKibibytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4
    }
}
