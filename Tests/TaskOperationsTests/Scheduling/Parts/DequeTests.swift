import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("A line of work", .inTurns)
struct DequeTests {
    @Test("elements leave in the order in which they came, whenever they are asked for")
    func order() {
        var line = Deque<Int>()
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

    @Test("All short sequences of changes have the results of an array")
    func exhaustive() {
        for code in 0..<(1 << 14) {
            var (deque, array) = (Deque<Int>(), [Int]())
            for step in 0..<7 {
                switch code >> (2 * step) & 3 {
                case 0, 1:
                    deque.append(step)
                    array.append(step)
                case 2:
                    #expect(deque.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
                default:
                    #expect(deque.popLast() == array.popLast())
                }
                #expect(deque.first == array.first)
                #expect(deque.count == array.count)
            }
        }
    }

    @Test("A long queue has the results of an array, from both ends")
    func long() {
        var (deque, array) = (Deque<Int>(), [Int]())
        for number in 0..<5_000 {
            deque.append(number)
            array.append(number)
        }
        for number in 0..<5_000 {
            if number.isMultiple(of: 3) {
                #expect(deque.popLast() == array.removeLast())
            } else {
                #expect(deque.popFirst() == array.removeFirst())
            }
        }
        #expect(deque.isEmpty)
        #expect(deque.popLast() == nil)
        #expect(deque.popFirst() == nil)
    }
}
