internal import Foundation
@_spi(Lock) internal import TaskOperations
internal import TaskOperationsExtras

extension BridgedOperationQueue {
    /// Waits until the queue is empty. If an operation of the queue makes the call, waits until it is the only one.
    func allFinished() async { await allFinished(except: own) }

    /// Blocks until the queue is empty. If an operation of the queue makes the call, blocks until it is the only one.
    func blockUntilEmpty() {
        let own = own
        block { await self.allFinished(except: own) }
    }

    /// The operation of the queue that makes the call; nil if none does.
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

    /// Waits for all other operations, except those that wait for this one.
    private func othersFinished(than own: AnyTaskOperation) async {
        var mayBeMore = true
        while mayBeMore {
            mayBeMore = false
            for operation in taskQueue.operations where operation !== own {
                do {
                    try await operation.waitToTheEnd()
                    mayBeMore = true
                } catch {
                    continue  // It waits for `own`.
                }
            }
        }
    }

    /// Blocks the thread while a task waits. If an operation makes the call, it lends its permit.
    private func block(_ wait: @escaping @Sendable () async -> Void) {
        // `wait` throws no error.
        _ = try? BlockingWait(isUnlimited: true, wait).block()
    }
}

// MARK: - The current queue

extension BridgedOperationQueue {
    private static let known = Lock<[ObjectIdentifier: WeakReference<BridgedOperationQueue>]>([:])

    /// The bridged queue of the operation whose body is running; otherwise nil.
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

/// Waits on behalf of a caller that cannot throw. If a body waits for an operation that cannot end before the body
/// does, the cycle is reported, and the wait lasts until an operation of the cycle is cancelled.
func reportingCycles(_ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void) async {
    do {
        try await wait()
    } catch {
        MisuseReport.report("\(error)")
        await outsideOfBody(wait)
    }
}

/// Waits in a task that belongs to no body, so that the wait is not refused.
func outsideOfBody(_ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void) async {
    await Task.detached(executorPreference: bridgeExecutor) { try? await wait() }.value
}
