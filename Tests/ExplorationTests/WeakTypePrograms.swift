import Exploration
import Synchronization

@testable import ExploredTaskOperations

/// Programs on the types that use weaker orderings than sequential consistency, alone.
///
/// What a type publishes is followed by plain variables: to read one of which the write did not happen before is a data race.
enum WeakTypePrograms {
    static let mailbox = [puts, urgency]
    static let ring = [takes, closes, reopens]
    static let others = [rank, latch, clock, surroundings]

    /// What was put in by two threads is taken out once, by a third one or by them.
    static let puts = ExploredProgram("mailbox: put / put / empty", memory: .weak) { schedule in
        let world = MailboxWorld(2)
        schedule.thread("first") { world.put(0) }
        schedule.thread("second") { world.put(1) }
        schedule.thread("scheduler") { world.enter(.everything) }
        schedule.runToEnd()
        schedule.expect(world.received.sorted() == [0, 1], "\(world.received) came out of the mailbox")
    }

    /// Urgency rises while something is put in.
    static let urgency = ExploredProgram("mailbox: put / publish", memory: .weak) { schedule in
        let world = MailboxWorld(1)
        world.enter(.nothing)
        schedule.thread("adder") { world.put(0) }
        schedule.thread("scheduler") { world.enter(.everything) }
        schedule.runToEnd()
        schedule.expect(world.received == [0], "\(world.received) came out of the mailbox")
    }

    /// Two workers take from a run.
    static let takes = ExploredProgram("ring: take / take", memory: .weak) { schedule in
        let world = RingWorld(3)
        schedule.thread("scheduler") { world.offer(0..<3) }
        schedule.thread("first") { world.take(at: 10) }
        schedule.thread("second") { world.take(at: 11) }
        schedule.runToEnd()
        world.close()
        world.check(schedule)
    }

    /// The scheduler closes a run while a worker takes from it.
    static let closes = ExploredProgram("ring: take / close", memory: .weak) { schedule in
        let world = RingWorld(2)
        world.offer(0..<2)
        schedule.thread("scheduler") { world.close() }
        schedule.thread("first") { world.take(at: 10) }
        schedule.thread("second") { world.take(at: 11) }
        schedule.runToEnd()
        world.check(schedule)
    }

    /// The scheduler closes a run and opens another while a worker takes.
    static let reopens = ExploredProgram("ring: take / close / offer", memory: .weak) { schedule in
        let world = RingWorld(3)
        world.offer(0..<1)
        schedule.thread("scheduler") {
            world.close()
            world.offer(1..<3)
            world.close()
        }
        schedule.thread("worker") {
            world.take(at: 10)
            world.take(at: 11)
        }
        schedule.runToEnd()
        world.check(schedule)
    }

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

private final class MailboxWorld: @unchecked Sendable {
    // `received` is reached under the lock; all else is constant, or atomic.
    private let mailbox = Mailbox()
    private let lock = ControlledLock(())
    private let operations: [AnyTaskOperation]
    private let contents: [RaceChecked<Int>]
    private(set) var received: [Int] = []

    init(_ count: Int) {
        operations = (0..<count).map { TaskOperation(name: "\($0)") {} }
        contents = (0..<count).map { _ in RaceChecked(0) }
    }

    func put(_ number: Int) {
        contents[number].write(1)
        if mailbox.put(operations[number]) { enter(.everything) }
    }

    func enter(_ urgency: Mailbox.Urgency) {
        lock.withLock { _ in
            repeat {
                mailbox.empty { operation in
                    let number = operations.firstIndex { $0 === operation }!
                    _ = contents[number].read()
                    received.append(number)
                }
            } while mailbox.publish(urgency)
        }
    }
}

private final class RingWorld: @unchecked Sendable {
    // `notes` and `replaced` are reached under the lock; `taken` by the thread that has the turn.
    private let ring = ReadyRing()
    private let lock = ControlledLock(())
    private var notes = ReadyRing.Notes()
    private let operations: [AnyTaskOperation]
    private let contents: [RaceChecked<Int>]
    private let ends: [Int: RaceChecked<Int>]
    private var replaced: [Int] = []
    private var taken: [Int] = []

    init(_ count: Int) {
        operations = (0..<count).map { TaskOperation(name: "\($0)") {} }
        contents = (0..<count).map { _ in RaceChecked(0) }
        ends = [10: RaceChecked(0), 11: RaceChecked(0)]
    }

    /// The scheduler writes what operations are, and offers them.
    func offer(_ slots: Range<Int>) {
        lock.withLock { _ in
            for slot in slots { contents[slot].write(1) }
            ring.offer(slots.map { .init(rank: UInt64($0), slot: $0) }, level: .medium, &notes) { operations[$0] }
        }
    }

    /// A worker whose operation has ended takes the next one.
    func take(at ended: Int) {
        ends[ended]!.write(1)
        var position = ReadyRing.Position()
        guard let next = ring.take(inPlaceOf: ended, level: .medium, from: &position) else { return }
        _ = contents[next.slot].read()
        taken.append(next.slot)
        precondition(next.operation === operations[next.slot], "another operation than offered was taken")
    }

    func close() {
        lock.withLock { _ in
            ring.close(&notes) { ended in
                _ = ends[ended]!.read()
                replaced.append(ended)
            }
        }
    }

    func check(_ schedule: Schedule) {
        close()
        schedule.expect(Set(taken).count == taken.count, "\(taken) were taken")
        schedule.expect(taken.count == replaced.count, "\(taken) were taken, in place of \(replaced)")
        schedule.expect(Set(replaced).count == replaced.count, "\(replaced) ended")
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
