import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// A quadratic cost is not visible in a test of few operations, and a test of very many operations would not finish.
/// These tests therefore compare the time for a number of operations with the time for eight times that number. The
/// time grows by a factor of 8 if a step is constant or logarithmic, 64 if each step searches all operations, and 512
/// if each step does so for every operation.
@Suite(
    "Growth: graphs take time in proportion to their size", .computing, .serialized, .endsInTime)
struct GraphGrowthTests {
    @Test("Adding operations")
    func adding() {
        expectNearlyLinear(from: 2000) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            return (queue, { for _ in 0..<count { queue.addOperation {} } })
        }
    }

    @Test("Adding a chain from its end, one by one")
    func addingAChain() {
        expectNearlyLinear(from: 1000) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let chain = Self.chainFromItsEnd(count)
            return (queue, { for operation in chain { try! queue.addOperation(operation) } })
        }
    }

    @Test("Adding a chain in one step, behind a barrier that has as many before it")
    func addingAChainBehindABarrier() {
        expectNearlyLinear(from: 500) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            for _ in 0..<count { queue.addOperation {} }
            queue.addBarrier {}
            let chain = Self.chainFromItsEnd(count)
            return (queue, { try! queue.addOperations(chain) })
        }
    }

    @Test("Adding a chain one by one, behind a barrier that has as many before it: one search each")
    func addingAChainOneByOneBehindABarrier() {
        expectOneSearchEach(from: 30) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            for _ in 0..<count { queue.addOperation {} }
            queue.addBarrier {}
            let chain = Self.chainFromItsEnd(count)
            return (queue, { for operation in chain { try! queue.addOperation(operation) } })
        }
    }

    @Test("Adding barriers on which others depend: one search each")
    func addingBarriersThatAreWaitedFor() {
        expectOneSearchEach(from: 30) { count in
            let (queue, dependents) = (
                TaskOperationQueue(.init(isSuspended: true)), TaskOperationQueue(.init(isSuspended: true))
            )
            let barriers = (0..<count).map { _ in TaskOperation {} }
            for barrier in barriers { dependents.addOperation(dependencies: [barrier]) {} }
            return (
                queue,
                {
                    for barrier in barriers { try! queue.addBarrier(barrier) }
                    dependents.cancelAllOperations()
                }
            )
        }
    }

    @Test("Adding dependencies of others behind one barrier, and as many cancelled ones: one search each")
    func addingBehindCancelledBarriers() {
        expectOneSearchEach(from: 60) { count in
            let (queue, dependents) = (
                TaskOperationQueue(.init(isSuspended: true)), TaskOperationQueue(.init(isSuspended: true))
            )
            queue.addBarrier {}
            for _ in 0..<count { queue.addBarrier {}.cancel() }
            let operations = (0..<count).map { _ in TaskOperation {} }
            for operation in operations { dependents.addOperation(dependencies: [operation]) {} }
            return (
                queue,
                {
                    for operation in operations { try! queue.addOperation(operation) }
                    dependents.cancelAllOperations()
                }
            )
        }
    }

    @Test("Escalating through barriers")
    func escalatingThroughBarriers() {
        expectNearlyLinear(from: 100) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            for _ in 0..<count {
                queue.addOperation(priority: .low) {}
                queue.addBarrier(.priority(.low)) {}
            }
            let last = queue.addOperation(priority: .low) {}
            return (queue, { last.priority = .high })
        }
    }

    @Test("Escalating a chain")
    func escalatingAChain() {
        expectNearlyLinear(from: 1000) { count in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            var last = queue.addOperation(priority: .low) {}
            for _ in 1..<count { last = queue.addOperation(priority: .low, dependencies: [last]) {} }
            return (queue, { last.priority = .high })
        }
    }

    private static func chainFromItsEnd(_ count: Int) -> [TaskOperation<Void>] {
        let chain = (0..<count).map { _ in TaskOperation {} }
        for (operation, next) in zip(chain, chain.dropFirst()) { try! operation.addDependency(next) }
        return chain
    }

    /// - Parameter prepare: Creates a suspended queue, and the work to measure.
    private func expectNearlyLinear(
        from small: Int, sourceLocation: SourceLocation = #_sourceLocation, _ prepare: (_ count: Int) -> Prepared
    ) {
        expect(growthUpTo: 25, from: small, sourceLocation, prepare)
    }

    private func expectOneSearchEach(
        from small: Int, sourceLocation: SourceLocation = #_sourceLocation, _ prepare: (_ count: Int) -> Prepared
    ) {
        expect(growthUpTo: 200, from: small, sourceLocation, prepare)
    }

    private func expect(
        growthUpTo limit: Double, from small: Int, _ sourceLocation: SourceLocation,
        _ prepare: (_ count: Int) -> Prepared
    ) {
        let ratio = bestRatio(within: limit) { isLarge in
            time(isLarge ? small * 8 : small, prepare)
        }
        #expect(ratio < limit, sourceLocation: sourceLocation)
    }

    private func time(_ count: Int, _ prepare: (_ count: Int) -> Prepared) -> Duration {
        let (queue, work) = prepare(count)
        defer { queue.cancelAllOperations() }
        return processorTime(work)
    }

    private typealias Prepared = (queue: TaskOperationQueue, work: () -> Void)
}
