internal import Foundation
internal import Synchronization
internal import TaskOperations
internal import TaskOperationsExtras

extension BridgedOperationQueue {
    /// Waits until the queue is empty. If an operation of the queue makes the call, waits for all other operations.
    /// A call by an unstructured task of an operation waits for that operation, too.
    func allFinished() async { await allFinished(except: own) }

    /// Blocks until the queue is empty. If an operation of the queue makes the call, blocks for all other operations.
    func blockUntilEmpty() {
        let own = own
        block { await self.allFinished(except: own) }
    }

    /// The current operation, if it is on this queue; otherwise nil.
    private var own: AnyTaskOperation? { TaskOperationQueue.current === taskQueue ? .current : nil }

    private func allFinished(except own: AnyTaskOperation?) async {
        if let own { return await othersFinished(than: own) }
        await reportingCycles { [taskQueue] () throws(TaskOperationError) in try await taskQueue.waitToTheEnd() }
        await waitForList()
    }

    func blockUntilFinished(_ operations: [Foundation.Operation]) {
        block {
            for operation in operations { await operation.finished() }
        }
    }

    /// Waits for all other operations. Skips operations that wait for `own`.
    private func othersFinished(than own: AnyTaskOperation) async {
        var mayBeMore = true
        while mayBeMore {
            mayBeMore = false
            for operation in taskQueue.operations where operation !== own {
                do {
                    try await operation.waitToTheEnd()
                    mayBeMore = true
                } catch {
                    continue  // `operation` waits for `own`.
                }
            }
        }
    }

    /// Blocks the calling thread while a new task waits. If an operation makes the call, the operation lends its
    /// permit.
    private func block(_ wait: @escaping @Sendable () async -> Void) {
        // `block()` throws only the error of `wait`, which throws none.
        _ = try? BlockingWait(isUnlimited: true, wait).block()
    }
}

// MARK: - The current queue

extension BridgedOperationQueue {
    private static let known = Lock<[ObjectIdentifier: WeakReference<BridgedOperationQueue>]>([:])

    /// The bridged queue of the operation whose body is running; nil if there is none.
    static var bridged: BridgedOperationQueue? {
        guard let taskQueue = TaskOperationQueue.current else { return nil }
        return known.withLock { $0[ObjectIdentifier(taskQueue)]?.object }
    }

    /// Registers the queue, so that `bridged` finds it.
    func makeKnown() {
        Self.known.withLock { $0[ObjectIdentifier(taskQueue)] = WeakReference(self) }
    }

    func makeUnknown() {
        Self.known.withLock { $0[ObjectIdentifier(taskQueue)] = nil }
    }
}

// MARK: - Waits that could never end

/// Waits on behalf of a caller that cannot throw. If the wait closes a cycle, the cycle is reported. The wait then
/// lasts until an operation of the cycle is cancelled.
func reportingCycles(_ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void) async {
    do {
        try await wait()
    } catch {
        MisuseReport.report("\(error)")
        await outsideOfBody(wait)
    }
}

/// Waits in a task that belongs to no body. Such a wait closes no cycle, so it throws no error.
func outsideOfBody(_ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void) async {
    await Task.detached(executorPreference: bridgeExecutor) { try? await wait() }.value
}
