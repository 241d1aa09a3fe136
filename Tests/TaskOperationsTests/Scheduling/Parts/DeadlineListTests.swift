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

    @Test("memory for a burst is given back")
    func memory() {
        var list = DeadlineList(clock: 0)
        for number in 0..<10_000 { list.insert(Target(.seconds(number), number), at: .seconds(number)) }
        while list.count > 10 { _ = list.popFirst(until: .seconds(10_000)) }
        #expect(list.capacity <= 1024)
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
}
