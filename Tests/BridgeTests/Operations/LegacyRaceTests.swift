import Foundation
import TaskOperations
import TaskOperationsBridge
import TestSupport
import Testing

/// Threads change operations of Foundation at about the same time. No order of their steps can be chosen, so that each
/// test repeats its program. Each test failed within some thousands of rounds before its fault was mended.
@Suite("Foundation operations that several threads change at once", .inTurns, .timeLimit(.minutes(120)))
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
            let group = DispatchGroup()
            let changes: [@Sendable () -> Void] = [
                { operation.removeDependency(dependencies[0]) }, { operation.removeDependency(dependencies[1]) },
                { operation.cancel() }, { if isAddedMeanwhile { _ = try? queue.addOperation(operation) } },
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
            #expect(isFinished, "round \(round)")
            if !isFinished { return }
        }
    }
}

/// Takes a short time, about in proportion to a count.
private func spin(_ count: Int) {
    for _ in 0..<count * 10 { _ = Date() }
}
