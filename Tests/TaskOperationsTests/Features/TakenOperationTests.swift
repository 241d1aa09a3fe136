import TaskOperationsTesting
import Testing

@testable import TaskOperations

/// A worker takes an operation from a run, and a moment later starts it. What may happen in this moment does, one step
/// after the other, with a worker moved by hand.
@Suite("Between taking an operation and starting it", .timeLimit(.minutes(10)))
struct TakenOperationTests {
    @Test("One that is cancelled does not start, and the next one does", arguments: [false, true])
    func cancelled(isAsked: Bool) throws {
        let hand = try HandMovedWorker()
        let taken = try #require(hand.endAndTake())
        taken.operation.cancel()
        if isAsked { #expect(hand.scheduler.operationCount == 5) }
        #expect(!hand.start(taken))
        hand.enter()
        #expect(hand.executing === hand.operations[2])
        #expect(hand.scheduler.operations == Array(hand.operations[2...]))
        try hand.runToTheEnd()
    }

    @Test("One that is given a dependency does not start, and does so later")
    func dependent() throws {
        let hand = try HandMovedWorker()
        let taken = try #require(hand.endAndTake())
        try taken.operation.addDependency(hand.operations[3])
        #expect(!hand.start(taken))
        hand.enter()
        #expect(hand.executing === hand.operations[2])
        try hand.runToTheEnd()
        #expect(hand.ended == [0, 2, 3, 1, 4, 5].map { hand.operations[$0] })
    }

    @Test("One that is given a dependency and loses it before the queue hears of it is not forgotten")
    func dependentForAMoment() throws {
        let hand = try HandMovedWorker()
        let taken = try #require(hand.endAndTake())
        try taken.operation.addDependency(hand.operations[3])
        #expect(!hand.start(taken))
        try taken.operation.removeDependency(hand.operations[3])
        hand.enter()
        #expect(hand.executing === taken.operation)
        try hand.runToTheEnd()
        #expect(hand.ended == hand.operations)
    }

    @Test("One that becomes more urgent raises the worker")
    func raised() throws {
        let hand = try HandMovedWorker()
        let taken = try #require(hand.endAndTake())
        taken.operation.priority = .high
        #expect(hand.start(taken))
        #expect(hand.escalation == .high)
        try hand.runToTheEnd()
    }

    @Test("One of a queue that is suspended starts: it was taken before")
    func suspended() throws {
        let hand = try HandMovedWorker()
        let taken = try #require(hand.endAndTake())
        hand.scheduler.isSuspended = true
        #expect(hand.scheduler.operations == Array(hand.operations[1...]))
        #expect(hand.start(taken))
        #expect(hand.endAndTake() == nil)
        hand.enter()
        #expect(hand.executing == nil)
        #expect(hand.scheduler.operations == Array(hand.operations[2...]))
        hand.scheduler.cancelAll()
    }
}

/// A worker of a queue of width 1 with six operations, beside the queue's own, which is held. It executes the first one.
private final class HandMovedWorker {
    let scheduler: Scheduler
    let operations = (0..<6).map { TaskOperation(name: "\($0)") {} } as [AnyTaskOperation]
    private(set) var ended: [AnyTaskOperation] = []
    private let executor = HoldingExecutor()
    private let worker: Worker
    private var turn: Scheduler.Turn

    init() throws {
        scheduler = Scheduler(
            queueName: nil, width: 1, place: .executor(executor), isSuspended: false, taskLocals: [])
        worker = Worker(for: scheduler, level: .medium)
        turn = Scheduler.Turn(slice: TimeSlice(of: worker, decider: nil))
        try scheduler.submit(operations)
        scheduler.storage.withLock { $0.starting.add(1, at: .medium) }
        scheduler.workerBegan(worker, &turn)
    }

    deinit { executor.letGo() }

    var executing: AnyTaskOperation? { turn.operation }
    var escalation: PriorityLevel? { turn.escalation }

    /// Ends what executes, and takes what comes next, without starting it.
    func endAndTake() -> ReadyRun.Taken? {
        end()
        return scheduler.run.take(inPlaceOf: turn.slot, level: .medium, from: &turn.position)
    }

    func start(_ taken: ReadyRun.Taken) -> Bool {
        scheduler.start(taken.operation, at: taken.slot, &turn, on: worker)
    }

    /// Tells the scheduler of the end, or that what was taken did not start, and gets what comes next.
    func enter(readied: [AnyTaskOperation] = []) {
        scheduler.finish(&turn, readied: Few(readied), by: worker, .goesOn)
        #expect(scheduler.storage.withLock { $0.state.violations } == [])
    }

    func runToTheEnd() throws {
        while turn.operation != nil {
            let dependents = end()
            enter(readied: dependents.filter { $0.dependencyFinished(ended.last!) != nil })
        }
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(scheduler.operationCount == 0)
    }

    @discardableResult
    private func end() -> [AnyTaskOperation] {
        let operation = turn.operation.take()!
        ended.append(operation)
        var dependents: [AnyTaskOperation] = []
        operation.end(nil).forEachDependent { dependents.append($0) }
        return dependents
    }
}
