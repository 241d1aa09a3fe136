import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("LimitPlaces", .inTurns)
struct LimitPlacesTests {
    /// Semaphores of capacity 1, and the places that one claim has in their lines.
    private final class Line {
        var semaphores: [LimitState<Int>]
        var places: LimitPlaces<Int>
        var arrivals = 0

        init(count: Int) {
            semaphores = Array(repeating: LimitState(capacity: 1), count: count)
            places = LimitPlaces(count: count)
        }

        /// Another task takes the permit of a semaphore, if the permit is free.
        func acquire(_ index: Int) -> Bool { semaphores[index].tryAcquire(1) }

        func take(at level: PriorityLevel = .medium, isTrial: Bool = false) -> LimitPlaces<Int>.Attempt {
            arrivals += 1
            return places.take(at: level, arrival: LineArrival(arrivals), isTrial: isTrial, 0, access: access)
        }

        /// Releases the permits of the claim, which may need them again at once.
        func release() {
            places.prepareRelease(isNeededNext: true, 0, access: access)
            for index in semaphores.indices { semaphores[index].release(1) }
        }

        private func access(_ index: Int, _ change: (inout LimitState<Int>) -> Int?) -> Int? {
            var semaphore = semaphores[index]
            defer { semaphores[index] = semaphore }
            return change(&semaphore)
        }
    }

    @Test("All permits are taken, or none")
    func allOrNone() {
        let line = Line(count: 3)
        #expect(line.acquire(2))
        #expect(line.take().lacking == 2)
        #expect(line.semaphores.map(\.permits.taken) == [0, 0, 1])
        #expect(line.semaphores.map(\.claimCount) == [0, 0, 1])
        line.semaphores[2].release(1)
        #expect(line.take().lacking == nil)
        #expect(line.semaphores.map(\.permits.taken) == [1, 1, 1])
        #expect(line.semaphores.map(\.claimCount) == [0, 0, 0])
    }

    @Test("A claim that is passed again and again gets its permits in bounded time")
    func passed() {
        let line = Line(count: 2)
        #expect(line.acquire(0) && line.acquire(1))
        #expect(line.take().lacking == 0)
        var (passedCount, isTaken) = (0, false)
        for round in 0..<1000 where !isTaken {
            let index = round % 2
            line.semaphores[index].release(1)
            if line.semaphores[index].next() != nil { isTaken = line.take().lacking == nil }
            if !isTaken, line.acquire(index) { passedCount += 1 }
        }
        #expect(isTaken)
        #expect(passedCount > 10 && passedCount < 4 * LimitPlaces<Int>.passingLimit)
        #expect(line.semaphores.map(\.permits.taken) == [1, 1])
    }

    @Test("A claim of a higher level passes the entries of lower ones")
    func levels() {
        let line = Line(count: 1)
        #expect(line.acquire(0))
        _ = line.semaphores[0].wait(7, weight: 1, level: .medium, arrival: LineArrival(1000))
        #expect(line.take(at: .low).lacking == 0)
        line.semaphores[0].release(1)
        #expect(line.semaphores[0].waitersInOrder == [7, 0])
        #expect(line.take(at: .high).lacking == nil)
        #expect(line.semaphores[0].waitersInOrder == [7])
    }

    @Test("A trial takes no permit, and enters the line of a limit that has none")
    func trial() {
        let line = Line(count: 2)
        #expect(line.take(isTrial: true).lacking == nil)
        #expect(line.semaphores.map(\.permits.taken) == [0, 0])
        #expect(line.acquire(1))
        #expect(line.take(isTrial: true).lacking == 1)
        #expect(line.semaphores.map(\.claimCount) == [0, 1])
        line.semaphores[1].release(1)
        #expect(line.take(isTrial: true).lacking == nil)
        #expect(line.semaphores.map(\.claimCount) == [0, 1])
    }

    @Test("A claim takes a bounded number of permits before a later arrival")
    func turn() {
        let line = Line(count: 1)
        #expect(line.take().lacking == nil)
        _ = line.semaphores[0].wait(7, weight: 1, level: .medium, arrival: LineArrival(1000))
        for _ in 1..<LimitPlaces<Int>.turnLength {
            line.release()
            #expect(line.semaphores[0].next() == 0)
            #expect(line.take().lacking == nil)
        }
        line.arrivals = 1000
        line.release()
        #expect(line.semaphores[0].next() == 7)
        #expect(line.take().lacking == 0)
    }

    @Test("A trial does not count as an arrival")
    func arrivalOfTrial() {
        let line = Line(count: 1)
        #expect(line.take(isTrial: true).lacking == nil)
        #expect(line.acquire(0))
        line.arrivals = 1000
        _ = line.semaphores[0].wait(7, weight: 1, level: .medium, arrival: LineArrival(1000))
        #expect(line.take().lacking == 0)
        #expect(line.semaphores[0].waitersInOrder == [7, 0])
    }

    @Test("A claim that is not needed again at once arrives anew")
    func endOfTurn() {
        for isOver in [false, true] {
            let line = Line(count: 1)
            #expect(line.take().lacking == nil)
            if isOver { line.release() }
            _ = line.semaphores[0].wait(7, weight: 1, level: .medium, arrival: LineArrival(1000))
            line.arrivals = 1000
            if isOver { #expect(line.take().lacking == 0) } else { line.release() }
            #expect(line.semaphores[0].waitersInOrder == (isOver ? [7, 0] : [0, 7]))
        }
    }

    @Test("Claims that move between lines leave no entry behind", arguments: 0..<20)
    func moving(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (semaphores, arrivals) = (Array(repeating: LimitState<Int>(capacity: 2), count: 3), 0)
        var claims = (0..<6).map { _ in LimitPlaces<Int>(count: 3) }
        var held = 0
        for _ in 0..<2000 {
            if random.happens(percent: 45), held > 0 {
                held -= 1
                for index in semaphores.indices { semaphores[index].release(1) }
            } else {
                let number = random.number(below: claims.count)
                arrivals += 1
                let boxes = semaphores.map(Box.init)
                let level: PriorityLevel = random.happens(percent: 20) ? .high : .medium
                let attempt = claims[number].take(at: level, arrival: LineArrival(arrivals), number) { index, change in
                    change(&boxes[index].semaphore)
                }
                semaphores = boxes.map(\.semaphore)
                if attempt.lacking == nil { held += 1 }
            }
            for index in semaphores.indices { while semaphores[index].next() != nil {} }
            for (index, semaphore) in semaphores.enumerated() {
                let waiting = semaphore.waitersInOrder
                #expect(Set(waiting).count == waiting.count && waiting.allSatisfy { claims[$0].isInLine(at: index) })
                #expect(semaphore.permits.taken == held)
            }
        }
    }

    private final class Box {
        var semaphore: LimitState<Int>

        init(_ semaphore: LimitState<Int>) { self.semaphore = semaphore }
    }
}
