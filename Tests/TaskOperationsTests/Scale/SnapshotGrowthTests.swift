import TaskDump
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsDiagnosis

@Suite("Growth: snapshots and stall reports take linear time", .computing, .endsInTime)
struct SnapshotGrowthTests {
    private static let large = isDeep ? 4000 : 1500
    private static let limit = 4.0

    /// Returns the ratio of the times for ten times as many operations. The total work is the same for both sizes.
    private func ratio(
        _ make: (_ count: Int) throws -> [TaskOperationQueue], _ look: ([TaskOperationQueue]) -> Void
    ) rethrows -> Double {
        let (small, large) = (try make(Self.large / 10), try make(Self.large))
        defer { for queue in small + large { queue.cancelAllOperations() } }
        return bestRatio(within: Self.limit) { isLarge in
            processorTime { for _ in 0..<(isLarge ? 1 : 10) { look(isLarge ? large : small) } }
        }
    }

    @Test("A stall report that follows a chain over ten times as many queues takes about ten times as long")
    func chains() {
        let ratio = ratio { count in
            var queues: [TaskOperationQueue] = []
            var last: [AnyTaskOperation] = []
            for _ in 0..<count {
                queues.append(TaskOperationQueue(.init(isSuspended: queues.isEmpty)))
                last = [queues.last!.addOperation(dependencies: last) {}]
            }
            return queues.reversed()
        } _: { queues in
            let graph = OperationGraph(of: [queues[0].scheduler], follows: true)
            #expect(graph.queues.count == queues.count)
            let search = StallSearch(graph, from: QueueLabel(queues[0].scheduler))
            #expect(search.chain.count == queues.count && search.culprit != nil)
        }
        #expect(ratio < Self.limit, "a capture of all queues for each would make it 10")
    }

    @Test("Scalars of a long name are replaced in linear time")
    func hostileNames() {
        let ratio = bestRatio(within: Self.limit) { isLarge in
            let name = String(repeating: "\"\u{1}<é", count: isLarge ? 10_000 : 1_000)
            return processorTime {
                for _ in 0..<(isLarge ? 1 : 10) {
                    #expect(name.onOneLine.replacingScalars { $0 == "\"" ? "&quot;" : nil }.hasPrefix("&quot; <é"))
                }
            }
        }
        #expect(ratio < Self.limit, "a copy of the text for each replaced scalar would make it 10")
    }

    @Test("A snapshot takes linear time if each operation waits for an operation of another queue")
    func otherQueues() {
        let ratio = ratio { count in
            let (queue, other) = (TaskOperationQueue(), TaskOperationQueue(.init(isSuspended: true)))
            for _ in 0..<count { queue.addOperation(dependencies: [other.addOperation {}]) {} }
            return [queue, other]
        } _: { queues in
            let graph = queues[0].snapshot()
            #expect(graph.operations.count == 2 * queues[0].operationCount)
        }
        #expect(ratio < Self.limit, "a capture of the other queue for each would make it 10")
    }

    @Test("A snapshot takes linear time if each operation waits for an operation that waits for room")
    func producers() throws {
        let ratio = try ratio { count in
            try onOneThread { executor in
                let full = TaskOperationQueue(.init(maxQueuedOperationCount: 1, isSuspended: true))
                let queue = TaskOperationQueue()
                full.addOperation {}
                for _ in 0..<count {
                    let late = TaskOperation {}
                    Task(executorPreference: executor) { try await full.addOperationWaitingForRoom(late) }
                    queue.addOperation(dependencies: [late]) {}
                }
                while full.waitingProducerCount < count { await Task.yield() }
                return [queue, full]
            }
        } _: { queues in
            let graph = TaskOperationQueue.snapshot(of: queues)
            #expect(graph.operations.count == 2 * queues[0].operationCount + 1)
        }
        #expect(ratio < Self.limit, "a search through all that wait for room for each would make it 10")
    }
}
