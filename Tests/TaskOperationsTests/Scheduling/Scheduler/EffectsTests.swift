import TestSupport
import Testing

@testable import TaskOperations

/// The effects that a `SchedulerState` requests.
@Suite("Effects of SchedulerState", .inTurns)
struct EffectsTests {
    private typealias State = SchedulerState<String, Int>

    @Test("So many workers are started as there are operations, permits and processors for")
    func workers() {
        for (width, operations, limit, expected) in [(4, 2, 8, 2), (2, 5, 8, 2), (9, 9, 3, 3), (0, 2, 8, 0)] {
            var state = State(.init(maxConcurrentOperationCount: width), workerLimit: limit)
            for number in 0..<operations { _ = state.add("\(number)", isReady: true) }
            #expect(state.settled().workers.count == expected)
            #expect(state.settled().workers.isEmpty, "they were started already")
            state.setSuspended(true)
            state.setSuspended(false)
            #expect(state.settled().workers.isEmpty, "they were started already")
        }
    }

    @Test("A worker that has begun and runs something makes room for one more to be started")
    func workersAfterStart() {
        var state = State(.init(maxConcurrentOperationCount: 3), workerLimit: 1)
        for number in 0..<3 { _ = state.add("\(number)", level: .high, isReady: true) }
        #expect(Array(state.settled().workers) == [.high])
        state.workerBegan(at: .high)
        let started = state.nextStart(at: .high)
        #expect(started != nil)
        #expect(Array(state.settled().workers) == [.high])
    }

    @Test("The inbox is closed while a second addition could start a worker")
    func levelForInbox() {
        var state = State(.init(maxConcurrentOperationCount: 4))
        let slots = (0..<3).map { state.add("\($0)", isReady: true)! }
        #expect(state.settled().workers.count == 3)
        #expect(state.levelForInbox == nil, "a fourth worker could start")
        state.workerBegan(at: .medium)
        #expect(state.nextStart(at: .medium) == slots[0])
        #expect(state.levelForInbox == nil)
        state.remove(slots[0])
        #expect(state.nextStart(at: .medium) == slots[1])
        // One operation is ready, two workers will begin, and three permits are free.
        #expect(state.levelForInbox == nil)
        _ = state.add("3", isReady: true)
        _ = state.add("4", isReady: true)
        #expect(state.settled().workers.count == 1)
        #expect(state.levelForInbox == .medium)
    }

    @Test(
        "The inbox is open while all permits are taken, also for weights, but not if the time of an arrival counts",
        arguments: [
            (TaskOperationQueue.Configuration(maxConcurrentOperationCount: 2), PriorityLevel?.some(.userInteractive)),
            (.init(maxConcurrentOperationCount: 2, rate: .one(per: .seconds(1))), nil),
            (.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: 10), nil),
        ])
    func inboxOfFullQueue(configuration: TaskOperationQueue.Configuration, expected: PriorityLevel?) {
        var state = State(configuration)
        _ = state.add("first", isReady: true, weight: 2)
        #expect(state.levelForInbox == nil)
        _ = state.settled()
        state.workerBegan(at: .medium)
        #expect(state.nextStart(at: .medium) != nil)
        #expect(state.levelForInbox == expected)
    }

    @Test("A worker that yields counts as started until it begins again")
    func yieldingWorker() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        let slot = state.add("first", isReady: true)!
        _ = state.add("second", isReady: true)
        #expect(Array(state.settled().workers) == [.medium])
        state.workerBegan(at: .medium)
        #expect(state.nextStart(at: .medium) == slot)
        state.remove(slot)
        let yields = state.workerYields(at: .medium)
        #expect(yields)
        #expect(state.settled().workers.isEmpty)
        state.workerBegan(at: .medium)
        #expect(state.nextStart(at: .medium) != nil)
        let yieldsAgain = state.workerYields(at: .medium)
        #expect(!yieldsAgain, "no operation is left for it")
        #expect(state.starting[.medium] == 0)
    }

    @Test("A task that waits for its permits continues without them if its operation ends")
    func endDuringReturn() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        let slot = state.add("first", isReady: true)!
        let other = state.add("second", isReady: true)!
        #expect(state.nextStart(at: .medium) == slot)
        state.lend(slot)
        #expect(state.nextStart(at: .medium) == other)
        state.endWait(slot, 7, isLast: true)
        #expect(state.settled().resumed.isEmpty)
        state.remove(slot)
        #expect(state.settled().resumed == [7])
    }

    @Test("Late operations are refused or cancelled, and the admission never opens again")
    func admission() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        let slot = state.add("first")!
        state.setAdmission(.closing)
        #expect(state.add("second") != nil)
        state.setAdmission(.shut)
        state.setAdmission(.open)
        #expect(state.add("third") == nil)
        state.setAdmission(.cancelling)
        state.setAdmission(.shut)
        #expect(state.add("fourth") == nil)
        state.remove(slot)
        let outbox = state.settled()
        #expect(outbox.rejected(.shutDown) == ["third"])
        #expect(outbox.rejected(.cancelled) == ["fourth"])
        #expect(outbox.removed == ["first"])
    }

    @Test("A queue that closes is shut once it is empty")
    func closing() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        let slot = state.add("only")!
        state.setAdmission(.closing)
        #expect(state.admission.state == .closing)
        state.remove(slot)
        // Operations that other threads have added before the end are inserted first.
        #expect(state.admission.state == .closing)
        state.computeEffects()
        #expect(state.admission.state == .shut)
        var empty = State(.init(maxConcurrentOperationCount: 1))
        empty.setAdmission(.closing)
        #expect(empty.admission.state == .shut)
    }

    @Test("A task that waits for the end continues when the queue is empty and all completion handlers have returned")
    func waitingForTheEnd() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        state.waitUntilEmpty(1, number: 1)
        #expect(state.settled().resumed == [1])
        let slot = state.add("only", isReady: true)!
        _ = state.nextStart(at: .medium)
        state.waitUntilEmpty(4, number: 4)
        state.waitUntilEmpty(2, number: 2)
        state.waitUntilEmpty(3, number: 3)
        #expect(state.stopWaitingUntilEmpty(4) && !state.stopWaitingUntilEmpty(4))
        #expect(state.settled().resumed == [4])
        state.markFinished(slot)
        #expect(state.count == 0 && state.elements == [] && !state.isEmpty)
        #expect(state.width.taken == 1)
        #expect(state.settled().resumed == [])
        state.remove(slot)
        #expect(state.settled().resumed == [2, 3])
    }

    @Test("Changes are in order and numbered without a gap; without listeners there are none")
    func changes() {
        var state = State(.init(maxConcurrentOperationCount: 1))
        _ = state.add("unobserved", isReady: true)
        #expect(!state.settled().hasChanges && state.changes.isEmpty)
        state.changes.isObserved = true
        let (early, late) = (state.add("early", level: .high, isReady: true)!, state.add("late")!)
        _ = state.nextStart(at: .high)
        state.begin(early, on: Worker(for: .withoutQueue, level: .high))
        state.lend(early)
        state.setReady(late, true)
        state.endWait(early, 1, isLast: true)
        #expect(state.settled().hasChanges)
        var changes: [(OperationChange, String)] = []
        state.changes.forEach { change, element, _ in changes.append((change, element)) }
        state.changes.removeAll()
        state.markFinished(early)
        state.remove(early)
        state.remove(late)
        #expect(state.settled().hasChanges)
        state.changes.forEach { change, element, _ in changes.append((change, element)) }
        #expect(changes.map(\.0.number) == Array(1...9))
        #expect(
            changes.map { "\($1) \($0.kind)" } == [
                "early added", "early ready", "late added", "early started", "early lent", "late ready",
                "early returned", "early finished", "late finished",
            ])
        #expect(changes.map(\.0.counts.unfinished) == [2, 2, 3, 3, 3, 3, 3, 2, 1])
        #expect(changes.last?.0.counts.added == 3)
    }
}

extension SchedulerState {
    /// Returns the effects of the events since the last call, including those that are computed now.
    fileprivate mutating func settled() -> Effects {
        computeEffects()
        return takeEffects()
    }
}
