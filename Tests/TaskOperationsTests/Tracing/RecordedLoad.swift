import Foundation
import TaskOperations
import TestSupport

/// Threads that add operations to queues. Each waits after a block of at most 100, so that few are unfinished at once.
struct RecordedLoad {
    private let queues: [TaskOperationQueue]
    private let threadCount: Int
    private let otherCount: Int

    /// - Parameter others: The number of operations in the queues that do not end.
    init(_ queues: [TaskOperationQueue], threads: Int, besides others: Int = 0) {
        (self.queues, threadCount, otherCount) = (queues, threads, others)
    }

    /// Adds a number of operations, and waits for their ends.
    ///
    /// - Parameter count: A multiple of the number of threads.
    func run(_ count: Int) async {
        await onThreads(threadCount) { thread in
            var rest = count / threadCount
            var block = thread
            while rest > 0 {
                let size = min(rest, 100)
                addBlock(block, size)
                rest -= size
                block += threadCount
            }
        }
        _ = await eventually { queues.reduce(0) { $0 + $1.operationCount } == otherCount }
    }

    private func addBlock(_ block: Int, _ size: Int) {
        let queue = { queues[(block + $0) % queues.count] }
        var operations: [AnyTaskOperation] = []
        if block.isMultiple(of: 4) {
            // One step of the queue makes hundreds of records.
            operations = (0..<size - 1).map { TaskOperation(name: "many \($0)") {} }
            try? queue(0).addOperations(operations)
        } else {
            for number in 0..<size - 1 {
                let dependencies = number % 4 == 1 ? [operations[number - 1]] : []
                let name = number % 8 == 0 ? "block \(block % 1000)" : nil
                operations.append(queue(number).addOperation(name: name, dependencies: dependencies) {})
            }
        }
        let end = DispatchSemaphore(value: 0)
        let last = queue(0).addOperation(name: "last", dependencies: operations.suffix(60)) {}
        last.addCompletionHandler { _ in end.signal() }
        end.wait()
    }
}
