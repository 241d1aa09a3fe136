import TaskOperations

extension Case {
    // If the time of `OperationQueue` grows with the square of the size, the case has a size that `OperationQueue` can
    // finish.

    static let chain = Case(
        "chain", "empty, each depends on the one before", sizes: [10_000],
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.chain),
            GraphSubjects.operationQueue(Graph.chain, isQuadratic: true),
            GraphSubjects.dispatchQueue(Graph.chain), GraphSubjects.task(Graph.chain),
        ])

    static let fanOut = Case(
        "fan-out", "empty, one before all others", sizes: [10_000, 100_000], isLong: true,
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.fanOut),
            GraphSubjects.operationQueue(Graph.fanOut, isQuadratic: true),
            GraphSubjects.dispatchQueue(Graph.fanOut), GraphSubjects.task(Graph.fanOut),
        ])

    static let fanIn = Case(
        "fan-in", "empty, all others before one", sizes: [100_000],
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.fanIn), GraphSubjects.operationQueue(Graph.fanIn),
            GraphSubjects.dispatchQueue(Graph.fanIn), GraphSubjects.task(Graph.fanIn),
        ])

    static let layers = Case(
        "layers", "empty, 100 layers, each depends on 8 of the layer before", sizes: [10_000, 100_000],
        isLong: true,
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.layers),
            GraphSubjects.operationQueue(Graph.layers, isQuadratic: true),
            GraphSubjects.task(Graph.layers),
        ])

    static let randomDAG = Case(
        "random-dag", "empty, each depends on up to 4 earlier ones", sizes: [10_000, 100_000], isLong: true,
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.random),
            GraphSubjects.operationQueue(Graph.random, isQuadratic: true),
            GraphSubjects.task(Graph.random),
        ])

    /// No operation starts before the whole chain exists, as in the graphs.
    static let after = Case(
        "after", "adds 1 to the value of the one before", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { try await Values.taskOperationQueue($0) },
            Subject(.task) { await Values.task($0) },
        ])
}

private enum Values {
    static func taskOperationQueue(_ count: Int) async throws -> Measurement {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        return try await measure(count, on: (queue, Keeper<[TaskOperation<Int>]>())) { queue, keeper in
            let last = await mainThread.run {
                var operations = [queue.addOperation { 1 }]
                for _ in 1..<count { operations.append(queue.addOperation(after: operations.last!, body: successor)) }
                queue.isSuspended = false
                keeper.keep(operations)
                return operations.last!
            }
            check(try await last.value, count)
        }
    }

    static func task(_ count: Int) async -> Measurement {
        await measure(count, on: Keeper<[Task<Int, Never>]>()) { keeper in
            let last = await mainThread.run {
                let gate = Gate()
                var tasks = [
                    Task.detached {
                        await gate.pass()
                        return 1
                    }
                ]
                for _ in 1..<count {
                    let previous = tasks.last!
                    tasks.append(Task.detached { successor(await previous.value) })
                }
                gate.open()
                keeper.keep(tasks)
                return tasks.last!
            }
            check(await last.value, count)
        }
    }

    @Sendable private static func successor(_ value: Int) -> Int { value + 1 }

    private static func check(_ value: Int, _ count: Int) {
        precondition(value == count, "the chain of \(count) ended with \(value)")
    }
}
