internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TaskOperations
internal import TaskOperationsExtras

/// The tasks that wait for one Dispatch semaphore, and the thread that blocks for these tasks.
///
/// Only the semaphore can wake this thread. So the thread blocks for at most a second, and then checks whether a task
/// still waits. If it receives a permit while no task waits, it returns the permit.
final class SemaphoreLine: Sendable {
    /// The outcome of a wait; nil if the task was cancelled.
    private typealias Waiter = Promise<DispatchTimeoutResult?>

    /// The lines that have a thread, by semaphore.
    private static let lines = Lock<[ObjectIdentifier: SemaphoreLine]>([:])

    /// The threads. Each semaphore for which tasks wait needs one thread.
    private static let threads = WorkerThreads(name: "semaphore", maxCount: .max, idleTime: 1)

    private let semaphore: DispatchSemaphore
    /// The waiters in the order of arrival. The list may still contain waiters that were cancelled or timed out.
    private let waiters = Lock(Deque<Waiter>())

    private init(_ semaphore: DispatchSemaphore) {
        self.semaphore = semaphore
    }

    /// Whether a thread blocks for tasks that wait for a semaphore.
    static func hasThread(for semaphore: DispatchSemaphore) -> Bool {
        lines.withLock { $0[ObjectIdentifier(semaphore)] != nil }
    }

    static func acquire(
        _ semaphore: DispatchSemaphore, timeout: DispatchTime?
    ) async throws(CancellationError) -> DispatchTimeoutResult {
        if Task.isCancelled { throw CancellationError() }
        if tryAcquire(semaphore) { return .success }
        let waiter = Waiter()
        join(waiter, semaphore)
        let timer = timeout.map { startTimer(deadline: $0) { waiter.provide(.timedOut) } }
        defer { timer?.cancel() }
        let result = await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            waiter.provide(nil)
        }
        guard let result else { throw CancellationError() }
        return result
    }

    /// Takes an available permit. Returns false if no permit is available or other tasks wait.
    private static func tryAcquire(_ semaphore: DispatchSemaphore) -> Bool {
        !hasThread(for: semaphore) && semaphore.wait(timeout: .now()) == .success
    }

    private static func join(_ waiter: Waiter, _ semaphore: DispatchSemaphore) {
        let newLine = lines.withLock { lines -> SemaphoreLine? in
            let existing = lines[ObjectIdentifier(semaphore)]
            let line = existing ?? SemaphoreLine(semaphore)
            lines[ObjectIdentifier(semaphore)] = line
            line.waiters.withLock { $0.append(waiter) }
            return existing == nil ? line : nil
        }
        if let newLine { _ = threads.submit { newLine.serve() } }
    }
}

// MARK: - The thread

extension SemaphoreLine {
    private func serve() {
        var hasPermit: Bool
        repeat {
            hasPermit = semaphore.wait(timeout: .now() + .seconds(1)) == .success
            if hasPermit, !servePermit() { semaphore.signal() }
        } while !endIfUnused(sweeping: !hasPermit)
    }

    /// Passes a permit to the first waiting task. Returns false if no task waits.
    private func servePermit() -> Bool {
        while let waiter = waiters.withLock({ $0.popFirst() }) {
            if waiter.provide(.success) { return true }
        }
        return false
    }

    /// If no task waits, removes this line and returns true. The thread must then stop serving the line.
    ///
    /// - Parameter sweeping: Whether to remove tasks that no longer wait. This takes linear time in the number of
    ///   waiters.
    private func endIfUnused(sweeping: Bool) -> Bool {
        Self.lines.withLock { lines in
            waiters.withLock { waiters in
                if sweeping { waiters.removeAll(where: \.isProvided) }
                if !waiters.isEmpty { return false }
                lines[ObjectIdentifier(semaphore)] = nil
                return true
            }
        }
    }
}
