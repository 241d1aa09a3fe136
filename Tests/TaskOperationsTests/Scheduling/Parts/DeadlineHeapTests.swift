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

@Suite("The heap of deadlines", .inTurns)
struct DeadlineHeapTests {
    @Test(
        "The earliest deadline is the first one, after any additions, removals and ends",
        arguments: 0..<(isDeep ? 20 : 4))
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = DeadlineHeap(clock: 3)
        var model: [Target] = []
        var gone: [Target] = []
        for number in 0..<2000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let target = Target(.seconds(Int.random(in: 0..<50, using: &generator)), number)
                heap.insert(target, at: target.deadline)
                let place = model.firstIndex { $0.deadline > target.deadline } ?? model.count
                model.insert(target, at: place)
            case 5..<7 where !model.isEmpty:
                let target = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                let isRemoved = heap.remove(target)
                #expect(isRemoved)
                gone.append(target)
            case 7 where !gone.isEmpty:
                let isRemoved = heap.remove(gone.randomElement(using: &generator)!)
                #expect(!isRemoved)
            default:
                let moment = Duration.seconds(Int.random(in: 0..<50, using: &generator))
                let expected = model.first.flatMap { $0.deadline <= moment ? model.removeFirst() : nil }
                let first = heap.popFirst(until: moment) as! Target?
                #expect(first?.number == expected?.number)
                if let expected { gone.append(expected) }
            }
            #expect(heap.count == model.count && heap.earliest == model.first?.deadline)
            #expect(gone.allSatisfy { $0.deadlinePlace == nil })
            #expect(model.allSatisfy { $0.deadlinePlace?.clock == 3 })
        }
    }

    @Test("a target of another clock is not removed")
    func otherClock() {
        var heap = DeadlineHeap(clock: 1)
        var other = DeadlineHeap(clock: 2)
        let (target, foreign) = (Target(.zero, 1), Target(.zero, 2))
        heap.insert(target, at: .zero)
        other.insert(foreign, at: .zero)
        let isRemoved = heap.remove(foreign)
        #expect(!isRemoved)
        #expect(heap.count == 1)
    }

    @Test("memory for a burst is given back")
    func memory() {
        var heap = DeadlineHeap(clock: 0)
        for number in 0..<10_000 { heap.insert(Target(.seconds(number), number), at: .seconds(number)) }
        while heap.count > 10 { _ = heap.popFirst(until: .seconds(10_000)) }
        #expect(heap.capacity <= 128)
    }
}
