internal import Dispatch
internal import Foundation
@_spi(Lock) internal import TaskOperations
internal import TaskOperationsExtras

/// The tasks that wait for one Dispatch semaphore, and the thread that blocks for them.
///
/// Only the semaphore itself can wake that thread. So the thread blocks for at most a second at a time, and then checks
/// whether a task still waits. A permit for which no task waits is returned.
final class SemaphoreLine: Sendable {
    /// The outcome of a wait; nil if the task was cancelled.
    private typealias Waiter = Promise<DispatchTimeoutResult?>

    /// The lines that have a thread. A line is in this table exactly as long as its thread serves it.
    private static let lines = Lock<[ObjectIdentifier: SemaphoreLine]>([:])

    /// One for each semaphore that tasks wait for.
    private static let threads = WorkerThreads(name: "semaphore", maxCount: .max, idleTime: 1)

    private let semaphore: DispatchSemaphore
    /// The waiters in the order of arrival. Waiters that were cancelled or timed out may still be in the list.
    private let waiters = Lock(Deque<Waiter>())

    private init(_ semaphore: DispatchSemaphore) {
        self.semaphore = semaphore
    }

    /// Whether a thread serves tasks that wait for a semaphore.
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

    /// Takes an available permit, unless tasks wait for one.
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

    /// Hands a permit to the first waiting task. Returns false if no task waits.
    private func servePermit() -> Bool {
        while let waiter = waiters.withLock({ $0.popFirst() }) {
            if waiter.provide(.success) { return true }
        }
        return false
    }

    /// Returns true if no task waits, so that the thread must end.
    ///
    /// - Parameter sweeping: Whether to remove tasks that no longer wait. Linear in the number of waiters.
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
