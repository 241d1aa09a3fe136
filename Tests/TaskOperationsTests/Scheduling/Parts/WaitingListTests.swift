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
            for step in 0..<1000 {
                // Numbers arrive in the order 5, 4, 7, 6, 1, 0, 3, 2, 13, and so on.
                let number = step ^ 5
                switch random.number(below: 6) {
                case 0...2 where naive.count < most:
                    list.append(number * 10, number: number)
                    naive.append(number)
                    naive.sort()
                case 4:
                    let number = naive.randomElement(using: &random) ?? -1
                    let value = list.update(number) { $0 }
                    #expect(value == (number < 0 ? nil : number * 10))
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
            #expect(list.all == naive.map { $0 * 10 })
            let rest = list.removeAll()
            #expect(rest == naive.map { $0 * 10 } && list.isEmpty)
        }
    }

    @Test("Memory for a burst is given back", arguments: [true, false])
    func memory(removesFirst: Bool) {
        var list = WaitingList<Int>()
        for number in 0..<10_000 { list.append(number, number: number) }
        for number in 0..<9990 { _ = removesFirst ? list.removeFirst() : list.remove(number ^ 1) }
        #expect(list.all == Array(9990..<10_000) && list.placeCount <= 40)
    }
}
