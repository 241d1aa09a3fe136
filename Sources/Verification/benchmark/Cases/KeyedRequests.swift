import TaskOperations
import TaskOperationsExtras

// Many concurrent requests for few keys, where requests for one key share one operation. The comparison is an actor
// with a dictionary of tasks, as a user would write it.

extension Case {
    static let keyedBurst = Case(
        "keyed", variant: "burst", "request for one of 1,000 keys, all made before any of their bodies ends",
        sizes: [100_000],
        subjects: [
            Subject(.keyedOperations) { count in
                let queue = TaskOperationQueue(
                    maxConcurrentOperationCount: .max)
                let keyed = KeyedOperations<Int, Int>(queue: queue)
                return try await benchmark.measure(count, on: keyed) { keyed in
                    let gate = Gate()
                    let requests = (0..<count).map { number in
                        keyed.request(number % 1000) {
                            await gate.pass()
                            return number % 1000
                        }
                    }
                    gate.open()
                    for (number, request) in requests.enumerated() { try await check(request.value, number) }
                }
            },
            Subject(.actorOfTasks) { count in
                try await benchmark.measure(count, on: TaskTable()) { table in
                    let gate = Gate()
                    var tasks: [Task<Int, any Error>] = []
                    tasks.reserveCapacity(count)
                    for number in 0..<count {
                        let task = await table.task(for: number % 1000) {
                            await gate.pass()
                            return number % 1000
                        }
                        tasks.append(task)
                    }
                    gate.open()
                    for (number, task) in tasks.enumerated() { try await check(task.value, number) }
                }
            },
        ])

    static let keyedCallers = Case(
        "keyed", variant: "callers", "request for one of 1,000 keys, by 1,000 tasks that await one after the other",
        sizes: [100_000],
        subjects: [
            Subject(.keyedOperations) { count in
                let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(maxConcurrentOperationCount: 2))
                return await benchmark.measure(count, on: keyed) { keyed in
                    await callers(count) { key in try await keyed.value(for: key) { await work(key) } }
                }
            },
            Subject(.actorOfTasks) { count in
                await benchmark.measure(count, on: TaskTable()) { table in
                    await callers(count) { key in try await table.task(for: key) { await work(key) }.value }
                }
            },
        ])

    /// - Parameter call: Requests a key, and returns that key.
    private static func callers(_ count: Int, _ call: @escaping @Sendable (Int) async throws -> Int) async {
        let tasks = (0..<1000).map { caller in
            Task.detached {
                for round in 0..<count / 1000 {
                    let number = caller + round * 7
                    try await check(call(number % 1000), number)
                }
            }
        }
        for task in tasks { _ = await task.result }
    }

    /// Work that is short, so that the figures measure requests and not bodies, but long enough for other requests to
    /// arrive during it.
    @Sendable private static func work(_ key: Int) async -> Int {
        await Task.yield()
        return key
    }

    private static func check(_ value: Int, _ number: Int) {
        precondition(value == number % 1000, "another key's value")
    }
}

/// Keeps the running task of each key.
private actor TaskTable {
    private var tasks: [Int: Task<Int, any Error>] = [:]

    func task(for key: Int, _ work: @escaping @Sendable () async throws -> Int) -> Task<Int, any Error> {
        if let task = tasks[key] { return task }
        let task = Task {
            defer { tasks[key] = nil }
            return try await work()
        }
        tasks[key] = task
        return task
    }
}
