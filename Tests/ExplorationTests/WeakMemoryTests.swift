import Exploration
import Synchronization
import Testing

@testable import TaskOperations

/// Tests the memory model of weak explorations with the standard litmus programs. Each of them has the outcomes that
/// C++ allows.
@Suite("Weak memory", .serialized)
struct WeakMemoryTests {
    /// Runs a program in all schedules. Returns every outcome.
    private func outcomes(
        _ name: String, preemptions: Int = 8, _ body: @escaping @Sendable (Schedule, Outcomes) -> Void
    ) async -> Set<String> {
        let outcomes = Outcomes()
        let program = ExploredProgram(name, memory: .weak) { schedule in
            body(schedule, outcomes)
            schedule.runToEnd()
            outcomes.finish()
        }
        let result = await explore(.exhaustive(preemptions: preemptions, limit: 100_000), of: program)
        #expect(result?.isComplete ?? true)
        return outcomes.all
    }

    typealias LoadOrdering = AtomicLoadOrdering
    typealias StoreOrdering = AtomicStoreOrdering

    @Test("a message that is passed", arguments: [true, false])
    func messagePassing(isOrdered: Bool) async {
        let outcomes = await outcomes("message passing \(isOrdered)") { schedule, outcomes in
            let (data, flag) = (AtomicNumber(), AtomicNumber())
            schedule.thread("writer") {
                data.value.store(1, ordering: .relaxed)
                flag.value.store(1, ordering: isOrdered ? .releasing : .relaxed)
            }
            schedule.thread("reader") {
                let seen = flag.value.load(ordering: isOrdered ? .acquiring : .relaxed)
                outcomes.note("\(seen)\(data.value.load(ordering: .relaxed))")
            }
        }
        #expect(outcomes == (isOrdered ? ["00", "01", "11"] : ["00", "01", "11", "10"]))
    }

    @Test("two threads that store and then load", arguments: [true, false])
    func storeBuffering(isSequential: Bool) async {
        let outcomes = await outcomes("store buffering \(isSequential)") { schedule, outcomes in
            let (x, y) = (AtomicNumber(), AtomicNumber())
            for (name, mine, other) in [("a", x, y), ("b", y, x)] {
                schedule.thread(name) {
                    mine.value.store(1, ordering: isSequential ? .sequentiallyConsistent : .releasing)
                    let seen = other.value.load(ordering: isSequential ? .sequentiallyConsistent : .acquiring)
                    outcomes.note("\(name)\(seen)")
                }
            }
        }
        #expect(outcomes == (isSequential ? ["a0b1", "a1b0", "a1b1"] : ["a0b0", "a0b1", "a1b0", "a1b1"]))
    }

    @Test("two loads of one variable return stores in their order")
    func coherence() async {
        let outcomes = await outcomes("coherence") { schedule, outcomes in
            let x = AtomicNumber()
            schedule.thread("writer") {
                x.value.store(1, ordering: .relaxed)
                x.value.store(2, ordering: .relaxed)
            }
            schedule.thread("reader") {
                outcomes.note("\(x.value.load(ordering: .relaxed))\(x.value.load(ordering: .relaxed))")
            }
        }
        #expect(outcomes == ["00", "01", "02", "11", "12", "22"])
    }

    @Test("an update continues the release sequence of the previous store")
    func releaseSequence() async {
        let outcomes = await outcomes("release sequence") { schedule, outcomes in
            let (data, flag) = (AtomicNumber(), AtomicNumber())
            schedule.thread("writer") {
                data.value.store(1, ordering: .relaxed)
                flag.value.store(1, ordering: .releasing)
            }
            schedule.thread("updater") { flag.value.add(1, ordering: .relaxed) }
            schedule.thread("reader") {
                if flag.value.load(ordering: .acquiring) == 2 {
                    outcomes.note("\(data.value.load(ordering: .relaxed))")
                }
            }
        }
        #expect(outcomes == ["", "1"])
    }

    @Test("updates lose nothing")
    func updates() async {
        let outcomes = await outcomes("updates") { schedule, outcomes in
            let x = AtomicNumber()
            for name in ["a", "b", "c"] { schedule.thread(name) { x.value.add(1, ordering: .relaxed) } }
            schedule.runToEnd()
            outcomes.note("\(x.value.load(ordering: .relaxed))")
        }
        #expect(outcomes == ["3"])
    }

    @Test("a data race is found, and none where a lock orders the accesses", arguments: [true, false])
    func dataRace(isLocked: Bool) async {
        let program = ExploredProgram("data race \(isLocked)", memory: .weak) { schedule in
            let (variable, lock) = (RaceChecked(0), ControlledLock(0))
            for name in ["a", "b"] {
                schedule.thread(name) {
                    if isLocked { lock.withLock { _ in variable.write(1) } } else { variable.write(1) }
                }
            }
            schedule.runToEnd()
        }
        let result = await onOwnThread { program.explore(.exhaustive(preemptions: 2)) }
        #expect((result.failure == nil) == isLocked)
        if !isLocked { #expect(result.failure?.messages.first?.hasPrefix("Data race") == true) }
    }
}

final class AtomicNumber: Sendable {
    let value = ControlledAtomic(0)
}

/// The results of the schedules of a program.
private final class Outcomes: @unchecked Sendable {
    // Only the thread that has the turn uses this property.
    private(set) var all: Set<String> = []
    private var current: [String] = []

    func note(_ part: String) { current.append(part) }

    func finish() {
        all.insert(current.sorted().joined())
        current = []
    }
}
