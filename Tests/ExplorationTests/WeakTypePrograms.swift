import Exploration
import Synchronization

@testable import ExploredTaskOperations

/// Programs on the types that use weaker orderings than sequential consistency, alone.
///
/// What a type publishes is followed by plain variables: to read one of which the write did not happen before is a data race.
enum WeakTypePrograms {
    static let all = [rank, latch, clock, surroundings]

    /// A rank that was read tells what was done before it was set.
    static let rank = ExploredProgram("rank", memory: .weak) { schedule in
        let world = RankWorld()
        schedule.thread("setter") {
            world.variable.write(1)
            world.rank.set(5)
        }
        schedule.thread("reader") { if world.rank.value == 5 { _ = world.variable.read() } }
        schedule.runToEnd()
        let numbers = (0..<2).map { _ in Rank.next() }
        schedule.expect(numbers[0] < numbers[1], "\(numbers)")
    }

    /// Of two threads that each set a latch and look at the other's, one sees it.
    static let latch = ExploredProgram("latch", memory: .weak) { schedule in
        let (latches, variables) = ([Latch(), Latch()], [RaceChecked(0), RaceChecked(0)])
        let seen = Holder<[Bool]>([])
        for number in 0..<2 {
            schedule.thread("\(number)") {
                variables[number].write(1)
                latches[number].set()
                let isSet = latches[1 - number].isSet
                if isSet { _ = variables[1 - number].read() }
                seen.value?.append(isSet)
            }
        }
        schedule.runToEnd()
        schedule.expect(seen.value!.contains(true), "neither thread saw the other's latch")
    }

    /// A reading of the clock that is told as new is not older than what was told before.
    static let clock = ExploredProgram("queue clock", memory: .weak) { schedule in
        let world = ClockWorld()
        schedule.thread("time") { world.source.time.store(1, ordering: .relaxed) }
        for name in ["first", "second"] { schedule.thread(name) { world.readAndTell(schedule) } }
        schedule.runToEnd()
    }

    /// What surrounds the bodies is seen by a thread that was told of it.
    static let surroundings = ExploredProgram("surroundings", memory: .weak) { schedule in
        let world = SurroundingWorld()
        schedule.thread("setter") {
            world.surroundings.add { _, body in try await body() }
            world.isTold.withLock { $0 = true }
        }
        schedule.thread("worker") {
            if world.isTold.withLock({ $0 }) {
                schedule.expect(!world.surroundings.isEmpty && world.surroundings.current != nil, "nothing surrounds")
            }
        }
        schedule.runToEnd()
    }
}

private final class RankWorld: Sendable {
    let rank = Rank()
    let variable = RaceChecked(0)
}

private final class SurroundingWorld: Sendable {
    let surroundings = BodySurroundings()
    let isTold = ControlledLock(false)
}

/// A clock whose time is an atomic variable, so that a thread may see an old one.
private final class TimeSource: Sendable {
    let time = ControlledAtomic(0)
}

private struct SourceClock: Clock {
    let source: TimeSource

    var now: ContinuousClock.Instant {
        ContinuousClock.Instant(time: .seconds(source.time.load(ordering: .relaxed)))
    }

    var minimumResolution: Duration { .seconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

private final class ClockWorld: @unchecked Sendable {
    // `state` is reached under the lock.
    let source = TimeSource()
    private let clock: QueueClock
    private let lock = ControlledLock(())
    private var state = Scheduler.State(width: 1, isSuspended: false, policies: QueuePolicies(), workerLimit: 1)

    init() { clock = QueueClock(SourceClock(source: source)) }

    func readAndTell(_ schedule: Schedule) {
        let reading = clock.read()
        lock.withLock { _ in
            let before = state.pace.time.told
            clock.tell(reading, to: &state)
            schedule.expect(state.pace.time.told >= before, "the clock went back from \(before)")
        }
    }
}
