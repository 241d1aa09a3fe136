import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

private final class Target: DeadlineTarget, @unchecked Sendable {  // Only one thread uses it.
    let deadline: Duration
    let number: Int
    var deadlineSlot: Int32 = -1

    init(_ deadline: Duration, _ number: Int) {
        self.deadline = deadline
        self.number = number
    }

    func deadlinePassed() {}
}

/// A table, and the current sleeper of its clock.
private struct OneClock {
    let face: ClockFace
    let key: ClockKey
    var table = DeadlineTable()
    var sleeper: DeadlineTable.NewSleeper?

    init(_ clock: ManualClock = ManualClock()) {
        face = ClockFace(clock)
        key = ClockKey(clock, .high)
    }

    mutating func add(_ target: Target) {
        guard case .added(let sleeper) = table.add(target, at: target.deadline, on: face, key) else {
            Issue.record("the face is the one that was added")
            return
        }
        if let sleeper { self.sleeper = sleeper }
    }

    /// Removes and returns the deadlines until a moment, and the next earliest one; nil if there is none.
    mutating func pop(until moment: Duration) -> (due: [Target], earliest: Duration?) {
        var due: [Target] = []
        while let sleeper {
            switch table.next(for: sleeper, at: moment) {
            case .tell(let targets): due += targets.map { $0 as! Target }
            case .sleep(let earliest): return (due, earliest)
            case .end: self.sleeper = nil
            }
        }
        return (due, nil)
    }
}

@Suite("The table of deadlines", .inTurns)
struct DeadlineTableTests {
    @Test(
        "The earliest deadline of a clock is the first one, after any additions, removals and ends",
        arguments: 0..<(isDeep ? 20 : 4))
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var clock = OneClock()
        // Deadlines of another clock change nothing.
        let (otherClock, others) = (OneClock(), (0..<100).map { Target(.seconds($0), $0) })
        for other in others {
            _ = clock.table.add(other, at: other.deadline, on: otherClock.face, otherClock.key)
        }
        var model: [Target] = []
        var gone: [Target] = []
        for number in 0..<2000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let target = Target(.seconds(Int.random(in: 0..<50, using: &generator)), number)
                clock.add(target)
                let place = model.firstIndex { $0.deadline > target.deadline } ?? model.count
                model.insert(target, at: place)
            case 5..<8 where !model.isEmpty:
                let target = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                if clock.table.remove(target).face != nil { clock.sleeper = nil }
                gone.append(target)
            default:
                let first = model.first?.deadline ?? .zero
                let moment = Duration.seconds(Int.random(in: -1..<4, using: &generator)) + first
                let expected = model.prefix { $0.deadline <= moment }
                model.removeFirst(expected.count)
                let (due, earliest) = clock.pop(until: moment)
                #expect(due.map(\.number) == expected.map(\.number) && earliest == model.first?.deadline)
                gone += expected
            }
            #expect(gone.allSatisfy { $0.deadlineSlot < 0 })
            #expect(Set((model + others).map(\.deadlineSlot)).count == model.count + 100)
        }
    }

    @Test("memory for a burst is given back", arguments: [true, false])
    func memory(isInOrder: Bool) {
        var clock = OneClock()
        for number in 0..<10_000 { clock.add(Target(.seconds(isInOrder ? number : 10_000 - number), number)) }
        let (due, earliest) = clock.pop(until: .seconds(9_989))
        #expect(due.count >= 9_989 && earliest == .seconds(9_990))
        #expect(clock.table.capacity <= 1024)
    }

    @Test("A forgotten clock and a thousand others are told apart")
    func clocks() {
        var clocks = (0..<1000).map { _ in OneClock() }
        var table = DeadlineTable()
        var targets: [Target] = []
        func add(_ index: Int) {
            let target = Target(.seconds(1), index)
            swap(&table, &clocks[index].table)
            clocks[index].add(target)
            swap(&table, &clocks[index].table)
            targets.append(target)
        }
        for index in clocks.indices { add(index) }
        for target in targets.prefix(500) { #expect(table.remove(target).face === clocks[target.number].face) }
        targets.removeFirst(500)
        for index in clocks.indices.prefix(500).reversed() { add(index) }
        #expect(table.count == 1000)
        for target in targets { #expect(table.remove(target).face === clocks[target.number].face) }
        #expect(table.count == 0)
    }

    @Test("memory for removed deadlines is given back, also behind a deadline that stays", arguments: [true, false])
    func removedInTheMiddle(isInOrder: Bool) {
        var clock = OneClock()
        let first = Target(.zero, 0)
        clock.add(first)
        let targets = (1...10_000).map { Target(.seconds(isInOrder ? $0 : 20_000 - $0), $0) }
        for target in targets { clock.add(target) }
        for target in targets { #expect(clock.table.remove(target).face == nil) }
        #expect(clock.table.count == 1 && clock.table.capacity <= 128)
        let (due, earliest) = clock.pop(until: .zero)
        #expect(due.count == 1 && due.first === first && earliest == nil && clock.table.count == 0)
    }

    @Test("A timeout is reported at a high priority, and a queue is woken at the level of the wake")
    func priorities() async {
        for level in [PriorityLevel.low, .medium, .high] {
            let priorities = Lock<[TaskPriority]>([])
            let clock = ManualClock()
            let limit = HandlerTimer { priorities.withLock { $0.append(Task.currentPriority) } }
            limit.start(.seconds(1), clock: clock)
            let user = WokenUser { priorities.withLock { $0.append(Task.currentPriority) } }
            let queueClock = QueueClock(clock)
            queueClock.wake(user, QueueTime.Wake(reading: .seconds(2), level: level), usesLevel: true)
            queueClock.wake(user, QueueTime.Wake(reading: .seconds(3), level: level), usesLevel: false)
            for count in 1...3 {
                clock.advance(by: .seconds(1))
                await until { priorities.withLock { $0.count } == count }
            }
            #expect(priorities.withLock { $0 } == [.high, level.taskPriority, .high])
        }
    }
}

private final class WokenUser: ClockUser {
    private let woken: @Sendable () -> Void

    init(_ woken: @escaping @Sendable () -> Void) { self.woken = woken }

    func wake(_ wake: QueueTime.Wake) { woken() }
}
