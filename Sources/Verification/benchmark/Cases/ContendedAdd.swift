import Foundation
import TaskOperations

extension Case {
    /// Several threads add to one queue at once. There is no task group, because only one task can add to it.
    static let contendedAdd = Case(
        "contended-add", "empty, added to one queue by \(Producers.count) threads at once, width 2", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                let producers = Producers(of: count) { share in
                    for _ in 0..<share { queue.addOperation {} }
                }
                return try await measure(count, on: queue) { queue in
                    await producers.produce()
                    try await queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2)
                let producers = Producers(of: count) { share in
                    for _ in 0..<share { queue.addOperation {} }
                }
                return await measure(count, on: queue) { queue in
                    await producers.produce()
                    await mainThread.run { queue.waitUntilAllOperationsAreFinished() }
                }
            },
            Subject(.dispatchQueue) { count in
                let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
                let group = DispatchGroup()
                let producers = Producers(of: count) { share in
                    for _ in 0..<share { queue.async(group: group) {} }
                }
                return await measure(count, on: (queue, group)) { _, group in
                    await producers.produce()
                    await mainThread.run { group.wait() }
                }
            },
            Subject(.task) { count in
                let tasks = Lock<[[Task<Void, Never>]]>([])
                let producers = Producers(of: count) { share in
                    let some = (0..<share).map { _ in Task.detached {} }
                    tasks.withLock { $0.append(some) }
                }
                return await measure(count, on: Keeper<[[Task<Void, Never>]]>()) { keeper in
                    await producers.produce()
                    let all = tasks.withLock { $0 }
                    for task in all.joined() { await task.value }
                    keeper.keep(all)
                }
            },
        ])
}

/// Threads that start to produce at the same time.
private struct Producers: Sendable {
    static let count = 8

    private let start = DispatchSemaphore(value: 0)
    private let end = DispatchGroup()

    /// - Parameter produce: Called on each thread, with its share of the total.
    init(of total: Int, produce: @escaping @Sendable (_ share: Int) -> Void) {
        let ready = DispatchSemaphore(value: 0)
        for number in 0..<Self.count {
            end.enter()
            Thread.detachNewThread { [start, end] in
                ready.signal()
                start.wait()
                produce((total + number) / Self.count)
                end.leave()
            }
        }
        for _ in 0..<Self.count { ready.wait() }
    }

    /// Starts the threads, and returns when all have produced their shares.
    func produce() async {
        await mainThread.run {
            for _ in 0..<Self.count { start.signal() }
            end.wait()
        }
    }
}
