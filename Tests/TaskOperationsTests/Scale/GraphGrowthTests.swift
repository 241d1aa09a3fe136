import TaskOperations
import TaskOperationsTesting
import Testing

/// What grows with the square of its size would show in no test of a few operations, and hang one of very many. So
/// these compare the time for some with the time for eight times as many: about 8 times as long where a step is
/// constant or logarithmic, 64 times where it is linear in how many there are.
@Suite("Growth: graphs take time in proportion to their size", .serialized, .timeLimit(.minutes(3)))
struct GraphGrowthTests {
    @Test("Adding operations")
    func adding() {
        expectNearlyLinear(from: 2000) { count in
            let queue = TaskOperationQueue(isSuspended: true)
            return (queue, { for _ in 0..<count { queue.addOperation {} } })
        }
    }

    @Test("Adding a chain from its end, one by one")
    func addingAChain() {
        expectNearlyLinear(from: 1000) { count in
            let queue = TaskOperationQueue(isSuspended: true)
            let chain = Self.chainFromItsEnd(count)
            return (queue, { for operation in chain { try! queue.addOperation(operation) } })
        }
    }

    @Test("Adding a chain from its end, one by one, behind a barrier that has as many before it")
    func addingAChainBehindABarrier() {
        expectNearlyLinear(from: 100) { count in
            let queue = TaskOperationQueue(isSuspended: true)
            for _ in 0..<count { queue.addOperation {} }
            queue.addBarrier {}
            let chain = Self.chainFromItsEnd(count)
            return (queue, { for operation in chain { try! queue.addOperation(operation) } })
        }
    }

    @Test("Adding barriers on which others depend")
    func addingBarriersThatAreWaitedFor() {
        expectNearlyLinear(from: 100) { count in
            let (queue, dependents) = (TaskOperationQueue(isSuspended: true), TaskOperationQueue(isSuspended: true))
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

    @Test("Adding what others depend on behind one barrier, and as many cancelled ones")
    func addingBehindCancelledBarriers() {
        expectNearlyLinear(from: 250) { count in
            let (queue, dependents) = (TaskOperationQueue(isSuspended: true), TaskOperationQueue(isSuspended: true))
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
            let queue = TaskOperationQueue(isSuspended: true)
            for _ in 0..<count {
                queue.addOperation(priority: .low) {}
                queue.addBarrier(priority: .low) {}
            }
            let last = queue.addOperation(priority: .low) {}
            return (queue, { last.priority = .high })
        }
    }

    @Test("Escalating a chain")
    func escalatingAChain() {
        expectNearlyLinear(from: 1000) { count in
            let queue = TaskOperationQueue(isSuspended: true)
            var last = queue.addOperation(priority: .low) {}
            for _ in 1..<count { last = queue.addOperation(priority: .low, dependencies: [last]) {} }
            return (queue, { last.priority = .high })
        }
    }

    @Test("Bodies that await one operation with as many dependencies, and are depended on themselves")
    func awaitingWhatHasManyDependencies() async throws {
        let (small, large) = (100, 800)
        var times: [Duration] = []
        for count in [small, large] {
            let (awaited, waiting) = (
                TaskOperationQueue(isSuspended: true),
                TaskOperationQueue(maxConcurrentOperationCount: count, isSuspended: true)
            )
            let dependencies = (0..<count).map { _ in awaited.addOperation {} }
            let shared = awaited.addOperation(dependencies: dependencies) {}
            let bodies = (0..<count).map { _ in waiting.addOperation { try await shared.value } }
            let last = TaskOperationQueue().addOperation(dependencies: bodies) {}
            times.append(
                await ContinuousClock().measure {
                    waiting.isSuspended = false
                    await until { bodies.allSatisfy { $0.debugDescription.contains("awaits") } }
                })
            awaited.isSuspended = false
            try await last.value
        }
        #expect(times[1] < times[0] * 25)
    }

    private static func chainFromItsEnd(_ count: Int) -> [TaskOperation<Void>] {
        let chain = (0..<count).map { _ in TaskOperation {} }
        for (operation, next) in zip(chain, chain.dropFirst()) { try! operation.addDependency(next) }
        return chain
    }

    /// - Parameter prepare: Makes a suspended queue, and what is to be measured.
    private func expectNearlyLinear(
        from small: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ prepare: (_ count: Int) -> (TaskOperationQueue, () -> Void)
    ) {
        let (short, long) = (shortest(of: small, prepare), shortest(of: small * 8, prepare))
        #expect(long < short * 25, sourceLocation: sourceLocation)
    }

    /// The shortest of five times, as others may have had the processor during some.
    private func shortest(of count: Int, _ prepare: (_ count: Int) -> (TaskOperationQueue, () -> Void)) -> Duration {
        (0..<5).map { _ in
            let (queue, work) = prepare(count)
            defer { queue.cancelAllOperations() }
            return ContinuousClock().measure(work)
        }.min()!
    }
}
