import TaskOperations

// The cost of each option of an operation, and of each way to lend permits.

extension Case {
    static let options = Case(
        "options", "empty, with one option, added one by one from the main thread, width 2", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { try await measureOption($0, nil) },
            Subject(.named) { try await measureOption($0, name: "operation", []) },
            Subject(.prioritised) { try await measureOption($0, .priority(.high)) },
            Subject(.weighted) { try await measureOption($0, .weight(2)) },
            Subject(.limited) { try await measureOption($0, .limit(AsyncSemaphore(capacity: 2))) },
            Subject(.dependent) { count in
                let dependency = TaskOperation {}
                try dependency.start()
                try await dependency.value
                return try await measureOption(count, dependencies: [dependency], [])
            },
            Subject(.startingWithin) { try await measureOption($0, .timeout(untilStart: .seconds(1000))) },
            Subject(.endingWithin) { try await measureOption($0, .timeout(untilEnd: .seconds(1000))) },
            Subject(.bodyTimeout) { try await measureOption($0, .timeout(.seconds(1000))) },
            Subject(.attemptTimeout) { try await measureOption($0, .timeout(perAttempt: .seconds(1000))) },
            Subject(.abandonable) {
                try await measureOption($0, [.timeout(.seconds(1000)), .overrun(.abandon)])
            },
            Subject(.retried) { try await measureOption($0, .retry(.immediately(attempts: 3))) },
            Subject(.allOptions) { count in
                try await measureOption(
                    count, name: "operation",
                    [
                        .priority(.high), .weight(2), .limit(AsyncSemaphore(capacity: 2)),
                        .timeout(untilStart: .seconds(1000)), .timeout(untilEnd: .seconds(1000)),
                        .timeout(.seconds(1000)),
                        .timeout(perAttempt: .seconds(1000)), .retry(.immediately(attempts: 3)),
                    ])
            },
        ])

    /// A body of a queue of width 2 awaits an operation of another queue.
    static let lending = Case(
        "lending", "awaits an operation of another queue, which lets others run once; width 2", sizes: [50_000],
        subjects: [
            Subject(.lendingWhenNeeded) { try await measureLending($0, .whenNeeded) },
            Subject(.lendingAlways) { try await measureLending($0, .always) },
            Subject(.lendingNever) { try await measureLending($0, .never) },
        ])
}

private func measureOption(
    _ count: Int, name: String? = nil, dependencies: [AnyTaskOperation] = [], _ options: OperationOptions?
) async throws -> Measurement {
    try await measure(count, on: TaskOperationQueue(maxConcurrentOperationCount: 2)) { queue in
        await mainThread.run {
            if let options {
                for _ in 0..<count { queue.addOperation(name: name, dependencies: dependencies, options) {} }
            } else {
                for _ in 0..<count { queue.addOperation {} }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

private func measureLending(_ count: Int, _ lending: TaskOperationQueue.Configuration.Lending) async throws
    -> Measurement
{
    let target = TaskOperationQueue(maxConcurrentOperationCount: 2)
    let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, lending: lending))
    return try await measure(count, on: queue) { queue in
        for _ in 0..<count {
            queue.addOperation { try await target.addOperation { await Task.yield() }.value }
        }
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
