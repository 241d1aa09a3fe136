import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("WaitingList, beside a plain list", .inTurns)
struct WaitingListTests {
    @Test("Elements are removed in the order in which they were appended", arguments: [3, 200])
    func randomUse(most: Int) {
        for seed in 0..<20 {
            var random = SeededGenerator(seed: UInt64(seed))
            var (list, naive) = (WaitingList<Int>(), [Int]())
            for number in 0..<1000 {
                switch random.number(below: 5) {
                case 0...2 where naive.count < most:
                    list.append(number * 10, number: number)
                    naive.append(number)
                case 3:
                    guard let number = naive.randomElement(using: &random) else { continue }
                    naive.removeAll { $0 == number }
                    let (removed, again) = (list.remove(number), list.remove(number))
                    #expect(removed == number * 10 && again == nil)
                default:
                    let first = list.removeFirst()
                    #expect(first == (naive.isEmpty ? nil : naive.removeFirst() * 10))
                }
                #expect(list.count == naive.count && list.isEmpty == naive.isEmpty)
            }
            let rest = list.removeAll()
            #expect(rest == naive.map { $0 * 10 } && list.isEmpty)
        }
    }
}
