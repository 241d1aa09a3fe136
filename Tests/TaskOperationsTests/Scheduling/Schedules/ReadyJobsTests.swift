import TestSupport
import Testing

@testable import TaskOperationsTesting

@Suite("Ready jobs", .inTurns)
struct ReadyJobsTests {
    private func job(_ task: UInt64, isMain: Bool = false, rank: UInt64 = 0) -> ReadyJob {
        // The list does not use the reference.
        let job = unsafeBitCast(UInt(task), to: UnownedJob.self)
        return ReadyJob(rank: rank, job: job, task: task, isMain: isMain, entry: nil, number: 0, isContinuation: false)
    }

    /// The jobs that can be chosen, from all jobs in the usual order.
    private func able(_ jobs: [ReadyJob]) -> [ReadyJob] {
        let main = jobs.first(where: \.isMain)?.task
        return jobs.filter { !$0.isMain || $0.task == main }
    }

    @Test("have the order of an array, in which the first job of the main actor alone can be chosen", arguments: 0..<50)
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ready = ReadyJobs()
        var plain: [ReadyJob] = []
        let mostMain = [0, 10, 60][random.number(below: 3)]
        for number in 1...400 {
            let grows = random.happens(percent: number < 200 ? 70 : 40)
            if grows || plain.isEmpty {
                let isMain = random.happens(percent: mostMain)
                let new = job(UInt64(number), isMain: isMain, rank: random.next() | 1)
                if random.happens(percent: 10) {
                    ready.putBack(new)
                    plain.insert(new, at: 0)
                } else {
                    let isNext = random.happens(percent: 30)
                    ready.add(new, isNext: isNext)
                    let precedes = isNext && !(isMain && plain.contains(where: \.isMain))
                    plain.insert(new, at: precedes ? 0 : plain.count)
                }
            } else {
                let able = able(plain)
                let isFirst = random.happens(percent: 50)
                let place = isFirst ? ready.first : ready.highest
                let expected = isFirst ? able[0] : able.max { $0.rank < $1.rank }!
                let wasHeld = ready.holds(place)
                #expect(ready.remove(at: place).task == expected.task)
                let isHeld = ready.holds(place)
                #expect(wasHeld && !isHeld)
                plain.removeAll { $0.task == expected.task }
            }
            let able = able(plain)
            #expect(ready.count == able.count)
            guard let highest = able.indices.max(by: { able[$0].rank < able[$1].rank }) else { continue }
            if random.happens(percent: 20) {
                let rank = random.next() | 1
                ready.setRank(at: ready.highest) { task in
                    #expect(task == able[highest].task)
                    return rank
                }
                plain[plain.firstIndex { $0.task == able[highest].task }!].rank = rank
            }
        }
    }

    @Test("Any of ten times as many jobs is found and removed in about the same time")
    func growth() {
        let ratio = bestRatio(within: 30) { isLarge in
            var random = SeededGenerator(seed: 1)
            var ready = ReadyJobs()
            return processorTime {
                for task in 0..<(isLarge ? 10_000 : 1_000) { ready.add(job(UInt64(task), rank: random.next())) }
                while ready.count > 0 {
                    if random.happens(percent: 50) { ready.setRank(at: ready.first) { _ in random.next() } }
                    _ = ready.remove(at: ready.highest)
                }
            }
        }
        #expect(ratio < 30, "a search through all jobs for each would make it 100")
    }

    @Test("follow their deadlines, and jobs of one deadline keep their order")
    func timers() {
        var timers = Timers()
        for (task, delay) in [(1, 20), (2, 10), (3, 20), (4, 30), (5, 10)] as [(UInt64, Int64)] {
            timers.add(job(task), after: delay)
        }
        var order: [[UInt64]] = []
        while !timers.isEmpty { order.append(timers.advance().map(\.task)) }
        #expect(order == [[2, 5], [1, 3], [4]])
        #expect(timers.now == 30)
        for _ in 0..<10 {
            timers.add(job(1), after: .max)
            #expect(timers.advance().count == 1)
        }
        #expect(timers.now == .max / 2)
    }
}
