import Exploration
import Foundation
import TaskOperations
import TaskOperationsBridge

/// Programs that run Foundation operations on queues of this library.
///
/// The exploration does not control Foundation's own locks. Foundation holds none of them while it calls an operation.
enum BridgePrograms {
    static let all = [addAndCancel, addTwice, readyAndCancel, counterpartCancelled, dependency, awaited]

    static let addAndCancel = ExploredProgram("bridge: add / cancel") { schedule in
        let world = World(schedule)
        let legacy = world.operation("a")
        schedule.thread("adder") { world.add(legacy) }
        schedule.thread("canceller") { legacy.cancel() }
        schedule.runToEnd()
        world.check(legacy)
    }

    static let addTwice = ExploredProgram("bridge: add / add to another queue / cancel") { schedule in
        let world = World(schedule)
        let legacy = world.operation("a")
        schedule.thread("adder") { world.add(legacy) }
        schedule.thread("other adder") { world.add(legacy, to: world.other) }
        schedule.thread("canceller") { legacy.cancel() }
        schedule.runToEnd()
        world.check(legacy)
    }

    static let readyAndCancel = ExploredProgram("bridge: ready / add / cancel") { schedule in
        let world = World(schedule)
        let legacy = world.operation("a", isConditioned: true)
        schedule.thread("adder") { world.add(legacy) }
        schedule.thread("condition") { legacy.becomeReady() }
        schedule.thread("canceller") { legacy.cancel() }
        schedule.runToEnd()
        world.check(legacy)
    }

    static let counterpartCancelled = ExploredProgram("bridge: ready / cancellation of the counterpart") { schedule in
        let world = World(schedule)
        let legacy = world.operation("a", isConditioned: true)
        world.add(legacy)
        schedule.thread("condition") { legacy.becomeReady() }
        schedule.thread("canceller") { world.counterparts[legacy]?.cancel() }
        schedule.runToEnd()
        world.check(legacy)
    }

    /// A dependency ends or is cancelled while its dependent is added.
    static let dependency = ExploredProgram("bridge: end of a dependency / add / cancel") { schedule in
        let world = World(schedule)
        let (first, second) = (world.operation("first"), world.operation("second"))
        second.addDependency(first)
        schedule.thread("adder") { world.add(second) }
        schedule.thread("other adder") { world.add(first, to: world.other) }
        schedule.thread("canceller") { first.cancel() }
        schedule.runToEnd()
        world.check(first)
        world.check(second)
        schedule.expect(
            world.tally.order.last == "second", "the dependent ran before its dependency: \(world.tally.order)")
    }

    /// A task waits for an operation that is added to a queue at the same time.
    static let awaited = ExploredProgram("bridge: wait / add / cancel") { schedule in
        let world = World(schedule)
        let legacy = world.operation("a")
        schedule.thread("waiter") {
            Task {
                await legacy.finished()
                world.tally.count("wait")
            }
        }
        schedule.thread("adder") { world.add(legacy) }
        schedule.thread("canceller") { legacy.cancel() }
        schedule.runToEnd()
        world.check(legacy)
        schedule.expect(world.tally["wait"] == 1, "the wait has not ended")
    }
}

/// Two queues, the operations on them, and a tally of their effects.
private final class World: @unchecked Sendable {
    // Only the thread that has the turn accesses these properties.
    let schedule: Schedule
    let (queue, other) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
    let tally = Tally()
    var counterparts: [Foundation.Operation: AnyTaskOperation] = [:]

    init(_ schedule: Schedule) {
        self.schedule = schedule
    }

    func operation(_ name: String, isConditioned: Bool = false) -> ConditionedOperation {
        ConditionedOperation(name, tally, holds: !isConditioned)
    }

    /// Adds an operation, unless it is already on the other queue.
    func add(_ legacy: Foundation.Operation, to queue: TaskOperationQueue? = nil) {
        do {
            counterparts[legacy] = try (queue ?? self.queue).addOperation(legacy)
        } catch {
            schedule.note("refused: \(error)")
        }
    }

    func check(_ legacy: Foundation.Operation) {
        guard let counterpart = counterparts[legacy] else { return schedule.fail("the operation was refused") }
        schedule.expectEnd(of: counterpart)
        schedule.expect(legacy.isFinished, "the operation of Foundation has not finished")
        schedule.expect(
            legacy.isCancelled == (counterpart.failure is CancellationError),
            "cancelled: \(legacy.isCancelled), its counterpart: \(String(describing: counterpart.failure))")
        schedule.expectOnce(tally)
        schedule.expectEmpty(queue, other)
    }
}

/// An operation that is ready if its condition holds or it was cancelled.
private final class ConditionedOperation: ControlledOperation, @unchecked Sendable {
    // Only the thread that has the turn accesses these properties.
    private var holds: Bool
    private let tally: Tally

    init(_ name: String, _ tally: Tally, holds: Bool) {
        (self.tally, self.holds) = (tally, holds)
        super.init()
        self.name = name
    }

    override var isReady: Bool { super.isReady && (holds || isCancelled) }

    override func main() { tally.count(name!) }

    func becomeReady() {
        holds = true
        notify()
    }
}
