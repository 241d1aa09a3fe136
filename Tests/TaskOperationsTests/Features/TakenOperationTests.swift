import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@testable import TaskOperations

/// A worker takes an operation from a run, and a moment later starts it. What may happen in this moment does, one step
/// after the other, with a worker moved by hand.
@Suite("Between taking an operation and starting it", .inTurns, .timeLimit(.minutes(10)))
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
        hand.enter()
        #expect(hand.executing == nil, "a worker that was raised runs nothing else")
        hand.scheduler.cancelAll()
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
    /// Whether what was taken last has started.
    private var isStarted = true
    private var turn: Scheduler.Turn

    init() throws {
        scheduler = Scheduler(
            queueName: nil, width: 1, place: .executor(executor), isSuspended: false, taskLocals: [])
        turn = Scheduler.Turn(
            on: Worker(for: scheduler, level: .medium),
            slice: TimeSlice(of: Worker(for: scheduler, level: .medium), decider: nil, isEndless: true))
        try scheduler.submit(operations)
        scheduler.workerBegan(&turn)
    }

    deinit { executor.letGo() }

    var executing: AnyTaskOperation? { turn.operation }
    var escalation: PriorityLevel? { turn.escalation }

    /// Ends what executes, and takes what comes next, without starting it; nil if nothing can be taken, and nothing ended.
    func endAndTake() -> ReadyRing.Taken? {
        let executing = turn.operation!
        let taken = scheduler.takeNext(&turn, nil)
        if taken != nil { ended.append(executing) }
        return taken
    }

    func start(_ taken: ReadyRing.Taken) -> Bool {
        isStarted = scheduler.start(taken, &turn)
        return isStarted
    }

    /// Tells the scheduler of the end, or that what was taken did not start, and gets what comes next.
    func enter() {
        if isStarted {
            ended.append(turn.operation!)
            scheduler.conclude(&turn, nil)
        } else {
            scheduler.giveUp(&turn)
        }
        isStarted = true
    }

    func runToTheEnd() throws {
        while turn.operation != nil { enter() }
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(scheduler.operationCount == 0)
    }
}
