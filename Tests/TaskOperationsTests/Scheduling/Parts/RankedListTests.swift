import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("RankedList, beside a sorted array", .inTurns)
struct RankedListTests {
    private typealias Entry = RankedSlot

    /// A list, and an array that is kept sorted.
    private struct Pair {
        var line = RankedList<Entry>()
        var sorted: [Entry] = []

        mutating func insert(_ arrival: Int) {
            let entry = Entry(rank: UInt64(arrival), slot: arrival)
            line.insert(entry)
            sorted.insert(entry, at: sorted.firstIndex { $0.rank > entry.rank } ?? sorted.endIndex)
        }

        mutating func removeFirst() {
            line.removeFirst()
            sorted.removeFirst()
        }

        mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
            line.removeAll(where: isUnwanted)
            sorted.removeAll(where: isUnwanted)
        }

        func agrees() -> Bool {
            line.first == sorted.first && line.count == sorted.count && line.isEmpty == sorted.isEmpty
                && line.elements.sorted { $0.rank < $1.rank } == sorted
        }
    }

    @Test("Random ranks, some of them late, leave in order", arguments: [0, 5, 50, 100])
    func randomArrivals(percentLate: Int) {
        for seed in 0..<40 {
            var random = SeededGenerator(seed: UInt64(seed))
            var pair = Pair()
            var arrivals = 0
            for step in 0..<200 {
                switch random.number(below: 20) {
                case 0..<11:
                    arrivals += 1
                    let isLate = random.happens(percent: percentLate)
                    pair.insert(isLate ? random.number(below: arrivals + 1) : arrivals)
                case 11..<19:
                    if !pair.sorted.isEmpty { pair.removeFirst() }
                default:
                    let divisor = UInt64(random.number(below: 3) + 1)
                    pair.removeAll { $0.rank.isMultiple(of: divisor) }
                }
                guard pair.agrees() else {
                    Issue.record("seed \(seed), step \(step): \(pair.line) is not \(pair.sorted)")
                    return
                }
            }
        }
    }

    @Test("Every order of five arrivals leaves in order, also with removals in between")
    func everyOrder() {
        for order in permutations(of: [1, 2, 3, 4, 5]) {
            for removals in 0..<32 {
                var pair = Pair()
                for (position, arrival) in order.enumerated() {
                    pair.insert(arrival)
                    if removals & (1 << position) != 0 { pair.removeFirst() }
                }
                while !pair.sorted.isEmpty {
                    #expect(pair.agrees(), "order \(order), removals \(removals)")
                    pair.removeFirst()
                }
                #expect(pair.agrees(), "order \(order), removals \(removals)")
            }
        }
    }

    @Test("A long line keeps its order while it is shortened and gives memory back")
    func longLine() {
        var line = RankedList<Entry>()
        for arrival in 1...5000 { line.insert(Entry(rank: UInt64(arrival), slot: 0)) }
        for arrival in 1...4000 {
            #expect(line.first?.rank == UInt64(arrival))
            line.removeFirst()
        }
        line.insert(Entry(rank: 7, slot: 0))
        line.insert(Entry(rank: 5001, slot: 0))
        #expect(line.count == 1002)
        #expect(line.first?.rank == 7)
        line.removeFirst()
        for arrival in 4001...5001 {
            #expect(line.first?.rank == UInt64(arrival))
            line.removeFirst()
        }
        #expect(line.isEmpty)
        #expect(line.first == nil)
    }
}

/// Returns every permutation of the elements.
func permutations<Element>(of elements: [Element]) -> [[Element]] {
    if elements.isEmpty { return [[]] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(of: rest).map { [first] + $0 }
    }
}
