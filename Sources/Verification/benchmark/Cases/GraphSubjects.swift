import Foundation
import TaskOperations

/// Empty operations that depend on each other, for each subject.
///
/// No operation starts before the whole graph exists. Otherwise the number of waiting operations would depend on
/// chance, because a predecessor might end before its dependent is created. The width is unlimited, because Dispatch
/// and tasks cannot limit it. So only the graph determines the order.
enum GraphSubjects {
    typealias Shape = @Sendable (_ count: Int) -> Graph

    static func taskOperationQueue(_ shape: @escaping Shape) -> Subject {
        Subject(.taskOperationQueue) { count in
            let graph = shape(count)
            let queue = TaskOperationQueue(
                .init(
                    maxConcurrentOperationCount: .max, isSuspended: true
                ))
            return try await measure(count, on: (queue, Keeper<[AnyTaskOperation]>())) { queue, keeper in
                await mainThread.run {
                    var operations: [AnyTaskOperation] = []
                    for node in 0..<graph.count {
                        let dependencies = graph.predecessors(of: node).map { operations[Int($0)] }
                        operations.append(queue.addOperation(dependencies: dependencies) {})
                    }
                    queue.isSuspended = false
                    keeper.keep(operations)
                }
                try await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    /// - Parameter isQuadratic: Whether the time grows with the square of the size. Then 10,000 operations take a
    ///   quarter of a minute, and the larger sizes take hours.
    static func operationQueue(_ shape: @escaping Shape, isQuadratic: Bool = false) -> Subject {
        Subject(.operationQueue, largestSize: isQuadratic ? 10_000 : .max, mostRounds: 3) { count in
            let graph = shape(count)
            let queue = OperationQueue(width: OperationQueue.defaultMaxConcurrentOperationCount, isSuspended: true)
            return await measure(count, on: (queue, Keeper<[Operation]>())) { queue, keeper in
                await mainThread.run {
                    var operations: [Operation] = []
                    for node in 0..<graph.count {
                        let operation = BlockOperation {}
                        for predecessor in graph.predecessors(of: node) {
                            operation.addDependency(operations[Int(predecessor)])
                        }
                        queue.addOperation(operation)
                        operations.append(operation)
                    }
                    queue.isSuspended = false
                    keeper.keep(operations)
                    queue.waitUntilAllOperationsAreFinished()
                }
            }
        }
    }

    /// A work item can wait for one other item or for a group. So each operation of the graph must have at most one
    /// predecessor, or all operations that have none.
    static func dispatchQueue(_ shape: @escaping Shape) -> Subject {
        Subject(.dispatchQueue) { count in
            let graph = shape(count)
            let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
            return await measure(count, on: (queue, Keeper<[DispatchWorkItem]>())) { queue, keeper in
                await mainThread.run {
                    let (first, all) = (DispatchGroup(), DispatchGroup())
                    var items: [DispatchWorkItem] = []
                    queue.suspend()
                    for node in 0..<graph.count {
                        all.enter()
                        let item = DispatchWorkItem { all.leave() }
                        let predecessors = graph.predecessors(of: node)
                        switch predecessors.count {
                        case 0: queue.async(group: first, execute: item)
                        case 1: items[Int(predecessors.first!)].notify(queue: queue, execute: item)
                        default: first.notify(queue: queue, work: item)
                        }
                        items.append(item)
                    }
                    queue.resume()
                    all.wait()
                    keeper.keep(items)
                }
            }
        }
    }

    static func task(_ shape: @escaping Shape) -> Subject {
        Subject(.task) { count in
            let graph = shape(count)
            return await measure(count, on: Keeper<[Task<Void, Never>]>()) { keeper in
                let tasks = await mainThread.run {
                    let gate = Gate()
                    let start = Task.detached { await gate.pass() }
                    var tasks: [Task<Void, Never>] = []
                    for node in 0..<graph.count {
                        let predecessors = graph.predecessors(of: node).map { tasks[Int($0)] }
                        tasks.append(
                            Task.detached {
                                if predecessors.isEmpty { await start.value }
                                for predecessor in predecessors { await predecessor.value }
                            })
                    }
                    gate.open()
                    return tasks
                }
                for task in tasks { await task.value }
                keeper.keep(tasks)
            }
        }
    }
}
