import TaskOperations
import TaskOperationsDiagnosis

// The cost of observation, with four events for each operation, compared with the same work without an observer.

extension Case {
    static let observed = Case(
        "observed", "empty, added one by one from the main thread, width 2; four events each", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { try await measureObserved($0) { _ in nil } },
            Subject(.observed) { count in
                try await measureObserved(count) { queue in
                    let observer = IdleObserver()
                    queue.addObserver(observer)
                    return { queue.removeObserver(observer) }
                }
            },
            Subject(.recorded) { count in
                try await measureObserved(count) { _ in
                    let recorder = FlightRecorder()
                    return { recorder.stop() }
                }
            },
        ])
}

private final class IdleObserver: TaskOperationObserver {
    func operationChanged(_ event: TaskOperationEvent) {}
}

/// - Parameter begin: Begins the observation. Returns a function that ends the observation and writes the remaining
///   events.
private func measureObserved(
    _ count: Int, _ begin: @Sendable (TaskOperationQueue) -> (() -> Void)?
) async throws -> Measurement {
    let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
    let end = begin(queue)
    return try await measure(count, on: queue) { queue in
        await mainThread.run { for _ in 0..<count { queue.addOperation {} } }
        try await queue.waitUntilAllOperationsAreFinished()
        end?()
    }
}
