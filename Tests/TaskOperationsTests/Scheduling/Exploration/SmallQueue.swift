import TestSupport

@testable import TaskOperations

/// A queue with a few operations, and the state of the operations, as one value to explore.
///
/// The value calls `SchedulerState` as the engine does. Every step before which another thread could run is a separate
/// event. Operations are numbers and are added in increasing order. The dependencies are part of the plan, so all plans
/// together cover every order.
struct SmallQueue {
    /// The events besides adding, starting and ending.
    enum Kind: CaseIterable, Sendable {
        case cancelling, suspending, widths, levels, edges, waits, shuttingDown, room, caps, rate
    }

    final class Plan: Sendable {
        /// The dependencies of each operation.
        let dependencies: [NumberSet]
        let barriers: NumberSet
        let widths: ClosedRange<Int>
        let kinds: Set<Kind>
        /// The number of times that each operation changes its level. The second change restores the first level.
        let levelChanges: Int
        /// The number of dependencies that are added or removed after the operation was added.
        let edgeChanges: Int
        /// The number of waits that begin in bodies.
        let waits: Int
        /// The effect of adding an operation while another one is queued, if the kinds contain `room`: the new
        /// operation waits, or one of the two is dropped.
        let overflow: TaskOperationQueue.Configuration.Overflow

        init(
            dependencies: [NumberSet], barriers: NumberSet = NumberSet(), widths: ClosedRange<Int> = 1...1,
            kinds: Set<Kind>, levelChanges: Int = 2, edgeChanges: Int = 1, waits: Int = 2,
            overflow: TaskOperationQueue.Configuration.Overflow = .reject
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

        /// Whether a plan may contain the dependency. If room is limited, an operation that depends on a later one
        /// could occupy the room that the later one needs, forever.
        func mayDepend(_ number: Int, on other: Int) -> Bool { other < number || !kinds.contains(.room) }

        var configuration: TaskOperationQueue.Configuration {
            .init(
                maxConcurrentOperationCount: widths.lowerBound,
                maxQueuedOperationCount: kinds.contains(.room) ? 1 : .max, overflow: overflow,
                rate: kinds.contains(.rate) ? .one(per: SmallQueue.step, burst: SmallQueue.burst) : nil)
        }
    }

    enum Phase: Int {
        /// Not added, and not finished.
        case made
        case pending
        case executing
        case finished
        /// The operation waits for room.
        case producing

        /// Added, and not started.
        var mayStart: Bool { self == .pending }
    }

    struct Operation {
        var phase = Phase.made
        var dependencies: NumberSet
        /// The operations that its body awaits.
        var awaited = NumberSet()
        /// The operation's slot in the queue; nil before it is added and after the queue has learnt of its end.
        var slot: Int?
        var levelChanges: Int
    }

    /// The length of one time step. In one step, the rate permits one more start.
    static let step = Duration.seconds(1)
    /// The number of starts that the rate can accumulate.
    static let burst = 2

    let plan: Plan
    var state: SchedulerState<Int, Int>
    var operations: [Operation]
    /// The number of operations that were added or refused.
    var added = 0
    var edgeChanges: Int
    var waits: Int
    /// The number of operations that the rate permits to start now.
    var tokens = SmallQueue.burst
    /// Descriptions of wrong decisions.
    var faults: [String] = []

    /// Whether to check the reasons why operations wait. This check takes longer than all others together.
    private let asksForReasons: Bool

    var violations: [String] {
        faults + timeViolations + state.violations + (asksForReasons ? state.reasonViolations : [])
    }

    init(_ plan: Plan, asksForReasons: Bool = isDeep) {
        self.asksForReasons = asksForReasons
        self.plan = plan
        state = SchedulerState(plan.configuration)
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

    /// The contained numbers in increasing order.
    var numbers: [Int] { (0..<bits.bitWidth).filter(contains) }

    mutating func formUnion(_ other: Self) { bits |= other.bits }
}

// MARK: - Waits between operations

extension SmallQueue {
    func isReady(_ number: Int) -> Bool {
        let operation = operations[number]
        return operation.phase.mayStart && unfinished(operation.dependencies).isEmpty
    }

    /// Whether a number is in `start`, or an operation in `start` waits for it, directly or through others.
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
