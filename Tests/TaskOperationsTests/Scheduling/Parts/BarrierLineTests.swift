import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("BarrierLine, beside naive counting", .inTurns)
struct BarrierLineTests {
    /// All operations that have not ended, in the order of arrival.
    private struct Counting {
        struct Arrival {
            let number: UInt64
            let isBarrier: Bool
        }

        var unfinished: [Arrival] = []

        var firstBarrier: Arrival? { unfinished.first(where: \.isBarrier) }

        var open: Arrival? { unfinished.first?.isBarrier == true ? unfinished.first : nil }

        func admits(_ number: UInt64) -> Bool {
            guard let firstBarrier else { return true }
            return number < firstBarrier.number || number == open?.number
        }

        func barriers(before number: UInt64) -> [UInt64] {
            unfinished.filter { $0.isBarrier && $0.number < number }.map(\.number)
        }
    }

    private func disagreement(_ line: BarrierLine, _ counting: Counting, upTo last: UInt64) -> String? {
        let before = counting.firstBarrier.map { first in counting.unfinished.count { $0.number < first.number } }
        if line.isEmpty != (counting.firstBarrier == nil) { return "isEmpty is \(line.isEmpty)" }
        if line.first?.arrival != counting.firstBarrier?.number { return "the first is \(line.first, default: "none")" }
        if line.first?.unfinishedBefore != before { return "\(line.first!) ought to wait for \(before!)" }
        if line.open?.arrival != counting.open?.number { return "\(line.open, default: "none") is open" }
        for number in 1...last {
            if line.admits(number) != counting.admits(number) { return "admits(\(number)) is \(line.admits(number))" }
            let barrier = line.last(before: number)?.arrival
            if barrier != counting.barriers(before: number).last {
                return "before \(number) stands \(barrier, default: "none")"
            }
            let next = line.next(after: number)
            if next != (number + 1...last + 1).first(where: { counting.barriers(before: $0 + 1).last == $0 }) {
                return "behind \(number) stands \(next, default: "none")"
            }
        }
        return nil
    }

    @Test("Operations and barriers come, and end in any order", arguments: [10, 30, 70])
    func randomArrivals(percentBarriers: Int) {
        for seed in 0..<(isDeep ? 30 : 6) {
            var random = SeededGenerator(seed: UInt64(seed))
            var line = BarrierLine()
            var counting = Counting()
            for number in 1...UInt64(60) {
                let isBarrier = random.happens(percent: percentBarriers)
                if isBarrier { line.barrierArrived(number, slot: Int(number)) } else { line.operationArrived() }
                counting.unfinished.append(.init(number: number, isBarrier: isBarrier))
                for _ in 0..<random.number(below: 3) where !counting.unfinished.isEmpty {
                    end(counting.unfinished.indices.randomElement(using: &random)!, &line, &counting)
                }
                if let disagreement = disagreement(line, counting, upTo: number + 1) {
                    Issue.record("seed \(seed), arrival \(number): \(disagreement), in \(line)")
                    return
                }
            }
        }
    }

    @Test("Many barriers that end one after the other do not pile up")
    func manyBarriers() {
        var line = BarrierLine()
        var counting = Counting()
        for number in 1...UInt64(500) {
            if number % 2 == 0 { line.barrierArrived(number, slot: Int(number)) } else { line.operationArrived() }
            counting.unfinished.append(.init(number: number, isBarrier: number % 2 == 0))
        }
        while !counting.unfinished.isEmpty {
            end(0, &line, &counting)
            let front = counting.unfinished.first?.number ?? 500
            #expect(line.first?.arrival == counting.firstBarrier?.number)
            #expect(line.open?.arrival == counting.open?.number)
            #expect(line.admits(front))
        }
        #expect(line == BarrierLine())
    }

    @Test("Many barriers that are cancelled behind one that stays leave no memory behind")
    func cancelledBarriers() {
        var line = BarrierLine()
        var counting = Counting()
        for number in 1...UInt64(300) {
            let isBarrier = number % 3 != 1
            if isBarrier { line.barrierArrived(number, slot: Int(number)) } else { line.operationArrived() }
            counting.unfinished.append(.init(number: number, isBarrier: isBarrier))
        }
        while let index = counting.unfinished.lastIndex(where: { $0.isBarrier && $0.number != 2 }) {
            end(index, &line, &counting)
        }
        #expect(line.capacity <= 100)
        #expect(disagreement(line, counting, upTo: 301) == nil)
        while !counting.unfinished.isEmpty { end(0, &line, &counting) }
        #expect(line == BarrierLine())
    }

    private func end(_ index: Int, _ line: inout BarrierLine, _ counting: inout Counting) {
        let ended = counting.unfinished.remove(at: index)
        if ended.isBarrier { line.barrierEnded(ended.number) } else { line.operationEnded(ended.number) }
    }
}
