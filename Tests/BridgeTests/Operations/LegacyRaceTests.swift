import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

/// Threads change operations of Foundation at about the same time. No order of their steps can be chosen, so that each
/// test repeats its program. Each test failed within some thousands of rounds before its fault was mended.
@Suite("Foundation operations that several threads change at once", .inTurns, .endsInTime)
struct LegacyRaceTests {
    @Test("Operations of a cycle finish when they are cancelled")
    func cancelledCycle() async {
        var all: [Foundation.Operation] = []
        for _ in 0..<size(500, deep: 10_000) {
            let queue = BridgedOperationQueue(name: "bridged", maxConcurrentOperationCount: 1)
            let (one, other) = (BlockOperation {}, AsynchronousOperation { $0.finish() })
            queue.isSuspended = true
            for operation in [one, other] { queue.addOperation(operation) }
            one.addDependency(other)
            other.addDependency(one)
            queue.isSuspended = false
            spin(.random(in: 0..<60))
            one.cancel()
            other.cancel()
            all += [one, other]
        }
        #expect(await eventually(within: .seconds(120)) { all.allSatisfy(\.isFinished) })
    }

    @Test(
        "An operation finishes if a dependency is removed while it is cancelled and other dependencies end",
        arguments: [false, true])
    func removal(isAddedMeanwhile: Bool) async throws {
        for round in 0..<size(500, deep: 10_000) {
            let (queue, other) = (TaskOperationQueue(), TaskOperationQueue())
            let dependencies = (0..<3).map { _ in TaskOperation {} }
            let (legacyDependency, operation) = (BlockOperation {}, BlockOperation {})
            for dependency in dependencies { try operation.addDependency(dependency) }
            operation.addDependency(legacyDependency)
            if !isAddedMeanwhile { try queue.addOperation(operation) }
            let (group, refusals) = (DispatchGroup(), Recorder<any Error>())
            let changes: [@Sendable () -> Void] = [
                { operation.removeDependency(dependencies[0]) }, { operation.removeDependency(dependencies[1]) },
                { operation.cancel() },
                {
                    if !isAddedMeanwhile { return }
                    do { try queue.addOperation(operation) } catch { refusals.record(error) }
                },
            ]
            for change in changes {
                group.enter()
                Thread.detachNewThread {
                    spin(.random(in: 0..<60))
                    change()
                    group.leave()
                }
            }
            spin(.random(in: 0..<60))
            try other.addOperation(legacyDependency)
            for dependency in dependencies { try other.addOperation(dependency) }
            await group.finished()
            let isFinished = await eventually(within: .seconds(60)) { operation.isFinished }
            #expect(isFinished, "round \(round), refusals: \(refusals.events)")
            if !isFinished { return }
        }
    }

    @Test("An operation that is cancelled while a queue copies its dependencies is accepted, and finishes")
    func cancellationDuringAddition() async throws {
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue(.init(isSuspended: true)))
        let operation = CancelledDuringAddition()
        try other.addOperation(operation.late)
        let node = try queue.addOperation(operation)
        #expect(operation.reads >= 3)
        await #expect(throws: CancellationError.self) { try await (node as! TaskOperation<Void>).value }
        let isFinished = await eventually { operation.isFinished }
        #expect(isFinished)
        other.isSuspended = false
    }
}

/// An operation that gets a dependency and is cancelled when its queue reads its dependencies for the third time, after
/// it has found that the operation is not cancelled.
private final class CancelledDuringAddition: BlockOperation, @unchecked Sendable {  // Only the adding thread writes.
    let late = BlockOperation {}
    private(set) var reads = 0

    override var dependencies: [Operation] {
        reads += 1
        if reads == 3 {
            addDependency(late)
            cancel()
            LegacyTable.knownNode(of: self)?.knownOperation?.cancel()
        }
        return super.dependencies
    }
}

/// Takes a short time, about in proportion to a count.
private func spin(_ count: Int) {
    for _ in 0..<count * 10 { _ = Date() }
}
