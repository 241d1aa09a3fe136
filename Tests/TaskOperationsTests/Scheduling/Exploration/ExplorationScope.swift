import TestSupport

@testable import TaskOperations

/// The size of an exploration: the number of operations, with every graph of dependencies and every choice of barriers (or a
/// limited number of barriers), and the kinds of events.
struct ExplorationScope {
    var operations: Int
    var kinds: Set<SmallQueue.Kind>
    /// The widths of the queue. If the width can change, the queue uses them in turn; otherwise each plan has one of
    /// them.
    var widths = 1...2
    var mostBarriers = Int.max
    var levelChanges = 2
    var edgeChanges = 1
    var waits = 2
    /// Of this number of plans, one is explored.
    var oneIn = 1

    /// The numbers of explored plans, states and transitions.
    struct Tally: CustomStringConvertible {
        var plans = 0
        var states = 0
        var transitions = 0

        var description: String { "\(plans) plans, \(states) states, \(transitions) transitions" }
    }

    /// A plan that has a violation.
    struct Failure: Error, CustomStringConvertible {
        let plan: SmallQueue.Plan
        let failure: Exploration<SmallQueue>.Failure

        var description: String {
            """
            dependencies \(plan.dependencies.map(\.numbers)), barriers \(plan.barriers.numbers), \
            widths \(plan.widths): \(failure)
            """
        }
    }

    /// Explores every plan.
    ///
    /// - Throws: `Failure`.
    func explore() throws(Failure) -> Tally {
        var tally = Tally()
        for (number, plan) in plans.enumerated() where number.isMultiple(of: oneIn) {
            do throws(Exploration<SmallQueue>.Failure) {
                let exploration = try Exploration(
                    from: SmallQueue(
                        plan, asksForReasons: isDeep && operations == 2 || (number / oneIn).isMultiple(of: 8)))
                tally.plans += 1
                tally.states += exploration.states
                tally.transitions += exploration.transitions
            } catch {
                throw Failure(plan: plan, failure: error)
            }
        }
        return tally
    }

    private var plans: [SmallQueue.Plan] {
        let widthRanges = kinds.contains(.widths) ? [widths] : widths.map { $0...$0 }
        let barriers = (0..<(1 << operations)).filter { $0.nonzeroBitCount <= mostBarriers }.map { NumberSet(bits: $0) }
        return shapes.flatMap { dependencies in
            barriers.flatMap { barriers in
                widthRanges.flatMap { widths in overflows.map { plan(dependencies, barriers, widths, $0) } }
            }
        }
    }

    /// All acyclic dependency graphs of the operations.
    private var shapes: [[NumberSet]] {
        var shapes: [[NumberSet]] = [[]]
        for number in 0..<operations {
            let others = (0..<(1 << operations)).map { NumberSet(bits: $0) }.filter { !$0.contains(number) }
            shapes = shapes.flatMap { shape in others.map { shape + [$0] } }
        }
        return shapes.filter { shape in
            let plan = plan(shape, NumberSet(), widths)
            let queue = SmallQueue(plan)
            if !shape.indices.allSatisfy({ number in shape[number].numbers.allSatisfy { plan.mayDepend(number, on: $0) }
            }) {
                return false
            }
            return shape.indices.allSatisfy { !queue.reaches($0, from: shape[$0]) }
        }
    }

    private func plan(
        _ dependencies: [NumberSet], _ barriers: NumberSet, _ widths: ClosedRange<Int>,
        _ overflow: TaskOperationQueue.Configuration.Overflow = .reject
    ) -> SmallQueue.Plan {
        SmallQueue.Plan(
            dependencies: dependencies, barriers: barriers, widths: widths, kinds: kinds, levelChanges: levelChanges,
            edgeChanges: edgeChanges, waits: waits, overflow: overflow)
    }

    private var overflows: [TaskOperationQueue.Configuration.Overflow] {
        kinds.contains(.room) ? [.reject, .dropOldest] : [.reject]
    }
}
