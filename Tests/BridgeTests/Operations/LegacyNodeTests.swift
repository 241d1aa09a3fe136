import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("An operation of Foundation has one node, for any order of calls", .inTurns)
struct LegacyNodeTests {
    private enum Step: CaseIterable {
        case link, depend, add
    }

    @Test("a cycle over the bridge is refused, in every order of linking and adding")
    func cycles() async throws {
        let orders: [[Step]] = [
            [.link, .depend, .add], [.link, .add, .depend], [.depend, .link, .add], [.depend, .add, .link],
            [.add, .link, .depend], [.add, .depend, .link],
        ]
        for order in orders {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let legacy = BlockOperation {}
            let ours = TaskOperation {}
            let refusals = order.filter { step in
                do {
                    switch step {
                    case .link: try ours.addDependency(legacy)
                    case .depend: try legacy.addDependency(ours)
                    case .add: try queue.addOperation(legacy)
                    }
                    return false
                } catch TaskOperationError.dependencyCycle {
                    return true
                } catch {
                    Issue.record(error)
                    return true
                }
            }
            #expect(refusals.count == 1, "\(order)")
            queue.cancelAllOperations()
        }
    }

    @Test("a circle of operations of Foundation is refused, added one by one from wherever", arguments: [2, 3, 10])
    func circle(count: Int) async throws {
        for first in 0..<count {
            let queue = TaskOperationQueue()
            let legacies = (0..<count).map { number in
                let legacy = BlockOperation {}
                legacy.name = "\(number)"
                return legacy
            }
            for number in 0..<count { legacies[number].addDependency(legacies[(number + 1) % count]) }
            var refused: [Operation] = []
            for number in 0..<count {
                let legacy = legacies[(first + number) % count]
                do {
                    try queue.addOperation(legacy)
                } catch TaskOperationError.dependencyCycle(let labels) {
                    refused.append(legacy)
                    #expect(labels.count == count + 1)
                }
            }
            #expect(!refused.isEmpty)
            // Cancelling one member releases the others. Refused operations are not on a queue yet.
            for legacy in legacies { legacy.cancel() }
            for legacy in refused { try queue.addOperation(legacy) }
            for legacy in legacies { await legacy.finished() }
        }
    }

    @Test("a circle that is closed after adding is unlocked by cancelling a member")
    func circleClosedLate() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let legacies = (0..<3).map { _ in BlockOperation {} }
        for legacy in legacies { try queue.addOperation(legacy) }
        for number in 0..<3 { legacies[number].addDependency(legacies[(number + 1) % 3]) }
        legacies[1].cancel()
        queue.isSuspended = false
        for legacy in legacies { await legacy.finished() }
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("priority reaches an operation and its dependencies, in either order of adding")
    func urgency() async throws {
        for isAddedFirst in [true, false] {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let (first, second) = (BlockOperation {}, BlockOperation {})
            second.addDependency(first)
            var nodes: [AnyTaskOperation] = []
            if isAddedFirst { nodes = [try queue.addOperation(first), try queue.addOperation(second)] }
            let urgent = TaskOperation(priority: .high) {}
            try urgent.addDependency(second)
            try queue.addOperation(urgent)
            if !isAddedFirst { nodes = [try queue.addOperation(first), try queue.addOperation(second)] }
            #expect(nodes.map(\.effectivePriority) == [.high, .high])
            #expect(urgent.dependencies == [nodes[1]])
            queue.isSuspended = false
            try await urgent.value
        }
    }

    @Test("there is one operation and one entry, and none after its end and release")
    func one() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        weak var released: BlockOperation?
        do {
            let legacy = BlockOperation {}
            released = legacy
            let dependent = TaskOperation {}
            try dependent.addDependency(legacy)
            let node = try queue.addOperation(legacy)
            #expect(dependent.dependencies == [node])
            #expect(node.asOperation === legacy)
            queue.isSuspended = false
            await legacy.finished()
        }
        await until { released == nil }
    }

    @Test("a long chain of operations of Foundation gets its nodes without recursion, from its last one")
    func longChain() async throws {
        let count = size(3000, deep: 10_000)
        let runs = ConcurrencyMeter()
        let legacies = (0..<count).map { _ in BlockOperation { runs.enter() } }
        for (first, second) in zip(legacies, legacies.dropFirst()) { second.addDependency(first) }
        let queue = TaskOperationQueue()
        for legacy in legacies.reversed() { try queue.addOperation(legacy) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == count)
        // Foundation frees a chain of dependencies recursively, so the test removes them.
        for legacy in legacies { for dependency in legacy.dependencies { legacy.removeDependency(dependency) } }
    }

    /// A class may change its state first and send several notifications then. The bridge may see the end within the
    /// first of them. A dependent that is released then must not be accessed by a later notification.
    @Test("its end is reported after Foundation has told the dependents, in whichever notification the end is seen")
    func endWithinNotification() async throws {
        let dependent = BlockOperation {}
        let ends = Recorder<[Bool]>()
        let legacy = NotifyingInSteps { operation in
            let isSeen = LegacyNode.node(of: operation).apply { $0.life.phase == .finished }
            ends.record([isSeen, dependent.isReady])
        }
        dependent.addDependency(legacy)
        // The queue is resumed after the addition, because the addition also looks at the operation.
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = try queue.addOperation(legacy)
        queue.isSuspended = false
        try await operation.waitUntilFinished()
        await legacy.finished()
        #expect(ends.events == [[true, true]])
    }
}

@Suite("A refused operation of Foundation is as if it had never been added", .inTurns)
struct LegacyRefusalTests {
    @Test("after a cycle was refused, each can be added elsewhere once the cycle is open, and nothing leaks")
    func cycle() async throws {
        weak var released: BlockOperation?
        do {
            let (one, two) = (BlockOperation {}, BlockOperation {})
            released = one
            one.addDependency(two)
            two.addDependency(one)
            let queue = TaskOperationQueue()
            #expect(throws: TaskOperationError.self) { try queue.addOperations([one, two]) }
            #expect(throws: TaskOperationError.self) { try queue.addOperation(one) }
            #expect(queue.operationCount == 0)
            // On Linux, Foundation would not start the operation after its dependency was removed.
            one.cancel()
            try TaskOperationQueue().addOperation(one)
            try TaskOperationQueue().addOperation(two)
            await one.finished()
            await two.finished()
        }
        await until { released == nil }
    }

    @Test("after a barrier's cycle was refused, it can be added to another queue or to an OperationQueue")
    func barrier() async throws {
        for isForFoundation in [true, false] {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let legacy = BlockOperation {}
            queue.addOperation(dependencies: [legacy.asTaskOperation]) {}
            queue.addBarrier {}
            #expect(throws: TaskOperationError.self) { try queue.addOperation(legacy) }
            if isForFoundation {
                OperationQueue().addOperation(legacy)
            } else {
                try TaskOperationQueue().addOperation(legacy)
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test("of two threads that add one operation, one succeeds, and it runs once")
    func race() async throws {
        for _ in 0..<size(500, deep: 3000) {
            let runs = ConcurrencyMeter()
            let legacy = BlockOperation { runs.enter() }
            let additions = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            try TaskOperationQueue().addOperation(legacy)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(additions == 1)
            await legacy.finished()
            #expect(runs.total == 1)
        }
    }
}

/// An operation that finishes at its start, and notifies Foundation of `isReady` before `isFinished`.
private final class NotifyingInSteps: Foundation.Operation, @unchecked Sendable {  // All mutable state is in `isOver`.
    private let isOver = Lock(false)
    private let between: @Sendable (NotifyingInSteps) -> Void

    /// - Parameter between: Called between the two notifications.
    init(between: @escaping @Sendable (NotifyingInSteps) -> Void) { self.between = between }

    override var isFinished: Bool { isOver.withLock { $0 } }

    override func start() {
        isOver.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
        between(self)
        didChangeValue(forKey: "isFinished")
    }
}
