import Synchronization
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@_spi(Lock) @testable import TaskOperations

@Suite("A run of what starts next, taken without a lock", .inTurns, .timeLimit(.minutes(10)))
struct ReadyRingTests {
    @Test("What is offered is taken once, in that order, and only at its level")
    func order() {
        let line = OfferedLine(count: 5)
        line.open(5)
        var taker = Taker(number: 0, in: line)
        #expect(taker.take(level: .high) == nil)
        #expect((0..<6).map { _ in taker.take() } == [0, 1, 2, 3, 4, nil])
        line.close()
        #expect(line.madeRoom == [taker.mark, 0, 1, 2, 3])
        #expect(taker.take() == nil)
    }

    @Test("Nothing is taken once the run is closed, and what was left is offered anew", arguments: 0...4)
    func closing(taken: Int) {
        let line = OfferedLine(count: 400)
        var takers = (0..<2).map { Taker(number: $0, in: line) }
        for round in 0..<100 {
            line.open(4)
            let first = round * taken
            #expect((0..<taken).map { takers[$0 % 2].take() } == Array(first..<first + taken))
            line.close()
            #expect(line.madeRoom.count == first + taken)
            #expect(takers.indices.map { takers[$0].take() } == [nil, nil])
        }
    }

    @Test("At half of a run more is offered behind the rest, as often as one likes")
    func prolonging() {
        let line = OfferedLine(count: 1000)
        line.open(8)
        var taker = Taker(number: 0, in: line)
        for number in 0..<1000 {
            #expect(taker.take() == number)
            if taker.isHalfway { line.prolong(to: 8) }
        }
        #expect(taker.take() == nil)
        line.close()
        #expect(line.madeRoom == [taker.mark] + Array(0..<999))
    }

    @Test("A run is longer each time it is prolonged, and shorter where it is closed early")
    func length() {
        let line = OfferedLine(count: 1000)
        var taker = Taker(number: 0, in: line)
        var lengths = [line.length]
        line.open(4)
        for _ in 0..<5 {
            _ = taker.take()
            line.prolong(to: 8)
            lengths.append(line.length)
        }
        #expect(lengths == [4, 8, 16, 32, 64, 64])
        for _ in 0..<5 { _ = taker.take() }
        line.close()
        #expect(line.length == 10)
        line.open(4)
        line.close()
        #expect(line.length == 4)
    }

    @Test("Several take while the run is prolonged, closed and opened, and each in its turn")
    func severalAtOnce() async {
        let line = OfferedLine(count: 100_000)
        let taken = await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    var taker = Taker(number: number, in: line)
                    while !line.isFinished.load(ordering: .relaxed) {
                        if taker.take() == nil { await Task.yield() }
                        if taker.isHalfway { line.prolong(to: 64) }
                    }
                    return taker.taken
                }
            }
            group.addTask {
                while line.madeRoom.count < line.count {
                    for _ in 0..<100 {
                        line.close()
                        line.open(64)
                    }
                    await Task.yield()
                }
                line.isFinished.store(true, ordering: .relaxed)
                return []
            }
            return await group.reduce(into: [[Int]]()) { $0.append($1) }
        }
        // Which end made room for what is the same for who took it and for who looked at it afterwards.
        #expect(taken.joined().sorted() == Array(0..<line.count))
        for sequence in taken {
            for (ended, next) in zip(sequence, sequence.dropFirst()) {
                #expect(ended < next)
                #expect(line.madeRoom[next] == ended)
            }
        }
    }
}

/// Operations in a line, some of which are offered: a scheduler's part.
private final class OfferedLine: Sendable {
    struct State {
        var notes = ReadyRing.Notes()
        /// What made room for each of the operations that were taken, as far as was looked.
        var madeRoom: [Int] = []
    }

    let run = ReadyRing()
    let operations: [AnyTaskOperation]
    /// Whether everything was taken.
    let isFinished = Atomic(false)
    private let state = Lock(State())

    init(count: Int) {
        operations = (0..<count).map { _ in TaskOperation {} }
    }

    var count: Int { operations.count }
    var madeRoom: [Int] { state.withLock { $0.madeRoom } }
    var length: Int { state.withLock { $0.notes.length } }

    func open(_ length: Int) {
        state.withLock { offer(length, &$0) }
    }

    func prolong(to length: Int) {
        state.withLock { state in
            if state.notes.level == nil { return }
            run.follow(&state.notes) { state.madeRoom.append($0) }
            offer(length - state.notes.count, &state)
        }
    }

    func close() {
        state.withLock { state in
            if state.notes.level == nil { return }
            run.close(&state.notes) { state.madeRoom.append($0) }
        }
    }

    private func offer(_ additional: Int, _ state: inout State) {
        let first = state.madeRoom.count + state.notes.count
        let slots = first..<min(first + additional, count)
        let entries = slots.map { RankedList.Entry(rank: UInt64($0), slot: $0) }
        run.offer(entries, level: .medium, &state.notes) { operations[$0] }
    }
}

/// A worker's part.
private struct Taker {
    let line: OfferedLine
    /// What it says to have ended before it took anything.
    let mark: Int
    private(set) var taken: [Int] = []
    private(set) var isHalfway = false
    private var position = ReadyRing.Position()

    init(number: Int, in line: OfferedLine) {
        self.line = line
        mark = line.count + number
    }

    /// Takes what comes first, and returns its place in the line.
    mutating func take(level: PriorityLevel = .medium) -> Int? {
        let next = line.run.take(inPlaceOf: taken.last ?? mark, level: level, from: &position)
        isHalfway = next?.isHalfway ?? false
        guard let next else { return nil }
        #expect(next.operation === line.operations[next.slot])
        taken.append(next.slot)
        return next.slot
    }
}
