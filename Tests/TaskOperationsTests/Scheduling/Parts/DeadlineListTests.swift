import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

private final class Target: DeadlineTarget, @unchecked Sendable {  // Only one thread uses it.
    let deadline: Duration
    let number: Int
    var deadlinePlace: DeadlinePlace?

    init(_ deadline: Duration, _ number: Int) {
        self.deadline = deadline
        self.number = number
    }

    func deadlinePassed() {}
}

@Suite("The list of deadlines", .inTurns)
struct DeadlineListTests {
    @Test(
        "The earliest deadline is the first one, after any additions, removals and ends",
        arguments: 0..<(isDeep ? 20 : 4))
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = DeadlineList(clock: 3)
        var model: [Target] = []
        var gone: [Target] = []
        for number in 0..<2000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let target = Target(.seconds(Int.random(in: 0..<50, using: &generator)), number)
                list.insert(target, at: target.deadline)
                let place = model.firstIndex { $0.deadline > target.deadline } ?? model.count
                model.insert(target, at: place)
            case 5..<7 where !model.isEmpty:
                let target = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                list.remove(at: Int(target.deadlinePlace!.slot))
                gone.append(target)
            default:
                let moment = Duration.seconds(Int.random(in: 0..<50, using: &generator))
                let expected = model.first.flatMap { $0.deadline <= moment ? model.removeFirst() : nil }
                let first = list.popFirst(until: moment) as! Target?
                #expect(first?.number == expected?.number)
                if let expected { gone.append(expected) }
            }
            #expect(list.count == model.count && list.earliest == model.first?.deadline)
            #expect(gone.allSatisfy { $0.deadlinePlace == nil })
            #expect(model.allSatisfy { $0.deadlinePlace?.clock == 3 })
        }
    }

    @Test("memory for a burst is given back", arguments: [true, false])
    func memory(isInOrder: Bool) {
        var list = DeadlineList(clock: 0)
        for number in 0..<10_000 {
            let deadline = Duration.seconds(isInOrder ? number : 10_000 - number)
            list.insert(Target(deadline, number), at: deadline)
        }
        while list.count > 10 { _ = list.popFirst(until: .seconds(10_000)) }
        #expect(list.capacity <= 1024)
    }

    @Test("A number of a forgotten clock is used again, and only one clock too many is refused")
    func clocks() {
        var table = DeadlineTable()
        let clocks = (0..<400).map { _ in ManualClock() }
        func add(_ index: Int) -> Target? {
            let (clock, target) = (clocks[index], Target(.seconds(1), index))
            let addition = table.add(target, at: .seconds(1), on: ClockFace(clock), ClockKey(clock, .high))
            if case .added = addition { return target }
            return nil
        }
        let limit = Int(DeadlinePlace.clockLimit)
        var targets = (0..<limit).compactMap { add($0) }
        #expect(targets.count == limit && add(399) == nil)
        for target in targets.prefix(100) { _ = table.remove(target) }
        targets.removeFirst(100)
        targets += (300..<399).compactMap { add($0) }
        #expect(targets.count == limit - 1 && table.count == limit - 1)
        #expect(add(399) != nil && add(299) == nil)
    }

    @Test("memory for removed deadlines is given back, also behind a deadline that stays", arguments: [true, false])
    func removedInTheMiddle(isInOrder: Bool) {
        var list = DeadlineList(clock: 0)
        let first = Target(.zero, 0)
        list.insert(first, at: first.deadline)
        let targets = (1...10_000).map { Target(.seconds(isInOrder ? $0 : 20_000 - $0), $0) }
        for target in targets { list.insert(target, at: target.deadline) }
        for target in targets { list.remove(at: Int(target.deadlinePlace!.slot)) }
        #expect(list.count == 1 && list.earliest == .zero)
        #expect(list.capacity <= 128)
        let popped = list.popFirst(until: .zero)
        #expect(popped === first && list.isEmpty && list.earliest == nil)
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
