import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("PlainDeque, beside an array", .inTurns)
struct PlainDequeTests {
    @Test("Random appends and removals agree with an array, also after copies")
    func randomUse() {
        for seed in 0..<40 {
            var random = SeededGenerator(seed: UInt64(seed))
            var (deque, array) = (PlainDeque<Int>(), [Int]())
            var copies: [(deque: PlainDeque<Int>, array: [Int])] = []
            for value in 0..<400 {
                if random.happens(percent: value % 200 < 100 ? 60 : 40) {
                    deque.append(value)
                    array.append(value)
                } else {
                    #expect(deque.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
                }
                if random.happens(percent: 5) { copies.append((deque, array)) }
                guard Array(deque) == array, deque.count == array.count, deque.isEmpty == array.isEmpty,
                    deque.first == array.first, deque.last == array.last
                else {
                    Issue.record("seed \(seed), value \(value): \(Array(deque)) is not \(array)")
                    return
                }
            }
            for copy in copies { #expect(Array(copy.deque) == copy.array, "seed \(seed)") }
        }
    }

    @Test("A long deque frees its memory while it becomes short, and can be used again")
    func burst() {
        var deque = PlainDeque<Int>()
        for round in 0..<3 {
            for value in 0..<5000 { deque.append(value) }
            for value in 0..<5000 {
                #expect(deque.popFirst() == value, "round \(round)")
                #expect(deque.capacity <= max(1024, 8 * deque.count), "round \(round), value \(value)")
            }
            #expect(deque.popFirst() == nil)
        }
    }

    @Test("A deque that never holds more than four elements keeps its memory for four")
    func steady() {
        var deque = PlainDeque<Int>()
        for value in 0..<1000 {
            deque.append(value)
            if value >= 3 { #expect(deque.popFirst() == value - 3) }
        }
        #expect(deque.capacity == 4)
    }
}
