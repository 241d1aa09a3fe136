import Testing

@testable import TaskOperationsExtras

@Suite("A queue with two ends")
struct DequeTests {
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
