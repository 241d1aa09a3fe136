import Exploration
import Synchronization

@testable import TaskOperations
@testable import TaskOperationsDiagnosis
@testable import TaskOperationsExtras

/// Programs that use single types whose memory orderings are weaker than sequential consistency.
///
/// Plain variables represent the data that a type publishes. A read of such a variable is a data race unless its write
/// happened before.
enum WeakTypePrograms {
    static let all = [rank, ranks, phase, latch, clock, surroundings, inbox, raisedInInbox, portions, observed]

    /// A thread that reads a rank also sees every write that happened before the rank was set.
    static let rank = ExploredProgram("rank", memory: .weak) { schedule in
        let world = RankWorld()
        schedule.thread("setter") {
            world.variable.write(1)
            world.rank.set(-1)
        }
        schedule.thread("reader") { if world.rank.value == -1 { _ = world.variable.read() } }
        schedule.runToEnd()
    }

    /// New ranks are distinct, even if two threads create them.
    static let ranks = ExploredProgram("ranks", memory: .weak) { schedule in
        let numbers = Holder<[Int]>([])
        for name in ["a", "b"] {
            schedule.thread(name) {
                let own = (0..<2).map { _ in Rank.next() }
                schedule.expect(own[0] < own[1], "\(own)")
                numbers.value! += own
            }
        }
        schedule.runToEnd()
        schedule.expect(Set(numbers.value!).count == 4, "\(numbers.value!)")
    }

    /// A thread that finds an operation finished also sees every write that happened before its end, such as that of its
    /// outcome.
    static let phase = ExploredProgram("phase", memory: .weak) { schedule in
        let (operation, variable) = (TaskOperation {}, RaceChecked(0))
        schedule.thread("ender") {
            variable.write(1)
            operation.finishExternally()
        }
        schedule.thread("reader") { if operation.isFinished { _ = variable.read() } }
        schedule.runToEnd()
        schedule.expectEnd(of: operation)
    }

    /// Two threads each set a latch and read the other's. At least one of them sees the other latch set.
    static let latch = ExploredProgram("latch", memory: .weak) { schedule in
        let (latches, variables) = ([AtomicFlag(), AtomicFlag()], [RaceChecked(0), RaceChecked(0)])
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

    /// If a reading of the clock is reported as new, it is not older than any reading reported before.
    static let clock = ExploredProgram("queue clock", memory: .weak) { schedule in
        let world = ClockWorld()
        schedule.thread("time") { world.source.time.store(1, ordering: .relaxed) }
        for name in ["first", "second"] { schedule.thread(name) { world.readAndTell(schedule) } }
        schedule.runToEnd()
    }

    /// A thread that learns of an interceptor's addition also sees the interceptor.
    static let surroundings = ExploredProgram("surroundings", memory: .weak) { schedule in
        let world = SurroundingWorld()
        schedule.thread("setter") {
            world.surroundings.set { _ in BodyInterceptor { _, body in try await body() } }
            world.isTold.withLock { $0 = true }
        }
        schedule.thread("worker") {
            if world.isTold.withLock({ $0 }) {
                schedule.expect(!world.surroundings.isEmpty && world.surroundings.value != nil, "nothing surrounds")
            }
        }
        schedule.runToEnd()
    }

    /// A thread that learns of an addition to the inbox finds the operation there.
    static let inbox = ExploredProgram("inbox", memory: .weak) { schedule in
        let (inbox, operation, isTold) = (Inbox.open(for: .medium), TaskOperation {}, ControlledLock(false))
        schedule.thread("adder") {
            schedule.expect(inbox.add(operation), "the open inbox refused the operation")
            isTold.withLock { $0 = true }
        }
        schedule.thread("worker") {
            if isTold.withLock({ $0 }) { schedule.expect(!inbox.isEmpty, "the inbox is empty") }
        }
        schedule.runToEnd()
    }

    /// An operation that is raised above the level of the inbox is refused, or the thread that raises it finds it in
    /// the inbox.
    static let raisedInInbox = ExploredProgram("inbox / raise", memory: .weak) { schedule in
        let (inbox, operation) = (Inbox.open(for: .medium), TaskOperation(priority: .medium) {})
        let (isAdded, isFound) = (Holder(false), Holder(false))
        schedule.thread("adder") { isAdded.value = inbox.add(operation) }
        schedule.thread("raiser") {
            operation.priority = .high
            isFound.value = !inbox.isEmpty
        }
        schedule.runToEnd()
        schedule.expect(!isAdded.value! || isFound.value!, "the raising thread did not find the operation in the inbox")
    }

    /// No portion is returned twice, and a thread that called `stop` gets no further portion. The order of the elements
    /// does not matter, because the caller awaits all tasks before it returns.
    static let portions = ExploredProgram("portions", memory: .weak) { schedule in
        let (portions, tally) = (ChunkedRange(count: 5, stride: 2), Tally())
        for name in ["a", "b"] {
            schedule.thread(name) {
                while let portion = portions.next() {
                    for element in portion { tally.count("\(element)") }
                    if name == "b" { portions.stop() }
                }
            }
        }
        schedule.runToEnd()
        schedule.expectOnce(tally)
    }

    /// A thread adds a listener and announces this. The listener receives the waits of all bodies that begin after the
    /// announcement.
    static let observed = ExploredProgram("observed wait", memory: .weak) { schedule in
        let (queue, isTold, waits, tally) = (TaskOperationQueue(), ControlledLock(false), WaitCounter(), Tally())
        let awaited = TaskOperation(name: "awaited") {}
        let operation = TaskOperation(name: "a") {
            if isTold.withLock({ $0 }) { tally.count("begun after") }
            try await awaited.value
        }
        schedule.thread("observer") {
            queue.addObserver(waits)
            isTold.withLock { $0 = true }
        }
        schedule.thread("adder") { try? queue.addOperation(operation) }
        schedule.runToEnd()
        try? queue.addOperation(awaited)
        schedule.runToEnd()
        schedule.expectEnd(of: operation, awaited)
        schedule.expect(waits.count >= tally["begun after"], "\(waits.count) waits were told")
        queue.removeObserver(waits)
        schedule.expectEmpty(queue)
    }
}

/// Counts the waits of bodies.
private final class WaitCounter: TaskOperationObserver, @unchecked Sendable {
    // Only the thread that has the turn accesses this property.
    private(set) var count = 0

    func operationChanged(_ event: TaskOperationEvent) {
        if case .waited = event.kind { count += 1 }
    }
}

private final class RankWorld: Sendable {
    let rank = Rank()
    let variable = RaceChecked(0)
}

extension Inbox {
    fileprivate static func open(for level: PriorityLevel) -> Inbox {
        let inbox = Inbox()
        var operations: [Inbox.Arrival] = []
        inbox.exchange(&operations, openFor: level)
        return inbox
    }
}

private final class SurroundingWorld: Sendable {
    let surroundings = RareValue<BodyInterceptor>()
    let isTold = ControlledLock(false)
}

/// A clock whose time is an atomic variable, so a thread may read an old time.
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
    // `state` is accessed only under the lock.
    let source = TimeSource()
    private let clock: QueueClock
    private let lock = ControlledLock(())
    // With a rate, because a state without policies ignores the time.
    private var state = Scheduler.State(
        .init(maxConcurrentOperationCount: 1, rate: .one(per: .seconds(1))), workerLimit: 1)

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
