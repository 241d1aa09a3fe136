import TaskOperationsExpectations

@testable import TaskOperations

/// A queue with a few operations, and the state of the operations, as one value to explore.
///
/// It treats `SchedulerState` as the engine does. Every step before which another thread could run is an event of its own.
/// Operations are numbers and are added in that order. The dependencies are part of the plan, so that all plans together
/// cover every order.
struct SmallQueue {
    /// The events besides adding, starting and ending.
    enum Kind: CaseIterable, Sendable {
        case cancelling, suspending, widths, levels, edges, waits, shuttingDown, room, caps, rate, ageing
    }

    final class Plan: Sendable {
        /// The dependencies of each operation.
        let dependencies: [NumberSet]
        let barriers: NumberSet
        let widths: ClosedRange<Int>
        let kinds: Set<Kind>
        /// How often each operation changes its level: more than once, as it is then back where it was.
        let levelChanges: Int
        /// How many dependencies are added or removed after the operation was added.
        let edgeChanges: Int
        /// How many waits begin in bodies.
        let waits: Int
        /// The effect of an addition while another operation is queued, if the kind is `room`: it waits, or the other one is
        /// dropped.
        let overflow: QueueOverflow

        init(
            dependencies: [NumberSet], barriers: NumberSet = NumberSet(), widths: ClosedRange<Int> = 1...1,
            kinds: Set<Kind>, levelChanges: Int = 2, edgeChanges: Int = 1, waits: Int = 2,
            overflow: QueueOverflow = .reject
        ) {
            self.dependencies = dependencies
            self.barriers = barriers
            self.widths = widths
            self.kinds = kinds
            self.levelChanges = levelChanges
            self.edgeChanges = edgeChanges
            self.waits = waits
            self.overflow = overflow
        }

        /// If there is little room, an operation that depends on one which is not added yet may keep that one out forever.
        func mayDepend(_ number: Int, on other: Int) -> Bool { other < number || !kinds.contains(.room) }

        var policies: QueuePolicies {
            QueuePolicies(
                queuedLimit: kinds.contains(.room) ? 1 : .max, overflow: overflow,
                rate: kinds.contains(.rate) ? .one(per: SmallQueue.step, burst: SmallQueue.burst) : nil,
                ageing: kinds.contains(.ageing) ? .raise(after: SmallQueue.step) : nil)
        }
    }

    enum Phase: Int {
        /// Not added, and not finished.
        case made
        case pending
        case executing
        case finished
        /// It waits for room.
        case producing

        /// Added, and not started.
        var mayStart: Bool { self == .pending }
    }

    struct Operation {
        var phase = Phase.made
        var dependencies: NumberSet
        /// The operations that its body awaits.
        var awaited = NumberSet()
        /// Where the queue has it; nil before it is added and after the queue has learnt of its end.
        var slot: Int?
        var levelChanges: Int
        /// For how many steps of time it is in the queue, as far as that makes a difference.
        var age = 0
    }

    /// The length of one step of time: it makes one start possible, and an operation rises by a level.
    static let step = Duration.seconds(1)
    /// How many starts are saved up.
    static let burst = 2
    /// After this number of steps, an operation of any level of these plans has the highest urgency.
    static let oldest = 2

    let plan: Plan
    var state: SchedulerState<Int, Int>
    var operations: [Operation]
    /// How many were added, or refused.
    var added = 0
    var edgeChanges: Int
    var waits: Int
    /// How many operations the rate lets start now.
    var tokens = SmallQueue.burst
    /// Decisions that were wrong.
    var faults: [String] = []

    /// Whether the state is asked why operations wait, which takes longer than all the rest.
    private let asksForReasons: Bool

    var violations: [String] {
        faults + timeViolations + state.violations + (asksForReasons ? state.reasonViolations : [])
    }

    init(_ plan: Plan, asksForReasons: Bool = isDeep) {
        self.asksForReasons = asksForReasons
        self.plan = plan
        state = SchedulerState(width: plan.widths.lowerBound, policies: plan.policies)
        operations = plan.dependencies.map { Operation(dependencies: $0, levelChanges: plan.levelChanges) }
        edgeChanges = plan.edgeChanges
        waits = plan.waits
    }
}

/// A set of small numbers.
struct NumberSet: Hashable, Sendable {
    var bits = 0

    init(bits: Int = 0) { self.bits = bits }

    init(_ number: Int) { bits = 1 << number }

    var isEmpty: Bool { bits == 0 }

    func contains(_ number: Int) -> Bool { bits & (1 << number) != 0 }

    mutating func insert(_ number: Int) { bits |= 1 << number }

    mutating func remove(_ number: Int) { bits &= ~(1 << number) }

    /// The numbers in it, in order.
    var numbers: [Int] { (0..<bits.bitWidth).filter(contains) }

    mutating func formUnion(_ other: Self) { bits |= other.bits }
}

// MARK: - Waits between operations

extension SmallQueue {
    func isReady(_ number: Int) -> Bool {
        let operation = operations[number]
        return operation.phase.mayStart && unfinished(operation.dependencies).isEmpty
    }

    /// Whether a number is one of these, or one of the operations for which they wait, directly or through others.
    func reaches(_ number: Int, from start: NumberSet) -> Bool {
        var reached = start
        while true {
            var further = reached
            for other in operations.indices where reached.contains(other) { further.formUnion(waitedFor(by: other)) }
            if further.contains(number) { return true }
            if further == reached { return false }
            reached = further
        }
    }

    /// The barriers that hold an operation back, or would do so if it were added now.
    func barriers(before number: Int) -> NumberSet {
        var before = NumberSet()
        for other in 0..<number where operations[other].slot != nil {
            if plan.barriers.contains(number) || plan.barriers.contains(other) { before.insert(other) }
        }
        return before
    }

    private func waitedFor(by number: Int) -> NumberSet {
        let operation = operations[number]
        if operation.phase == .finished { return NumberSet() }
        var waitedFor = unfinished(operation.dependencies)
        waitedFor.formUnion(operation.awaited)
        if operation.phase.mayStart { waitedFor.formUnion(barriers(before: number)) }
        return waitedFor
    }

    private func unfinished(_ numbers: NumberSet) -> NumberSet {
        var unfinished = numbers
        for number in operations.indices where operations[number].phase == .finished { unfinished.remove(number) }
        return unfinished
    }
}
