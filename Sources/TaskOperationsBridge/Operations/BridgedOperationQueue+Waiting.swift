internal import Foundation
@_spi(Lock) internal import TaskOperations

extension BridgedOperationQueue {
    /// Waits until the queue is empty, in what the base class lists too.
    func allFinished() async {
        do {
            try await taskQueue.waitUntilAllOperationsAreFinished()
        } catch {
            fatalError("\(error)")
        }
        #if !canImport(ObjectiveC)
            await members.wait()
        #endif
    }

    /// Blocks until the queue is empty, or until an operation of it that calls this is the only one.
    func blockUntilEmpty() {
        let own = TaskOperationQueue.current === taskQueue ? AnyTaskOperation.current : nil
        block {
            if let own { await self.othersFinished(than: own) } else { await self.allFinished() }
        }
    }

    func blockUntilFinished(_ operations: [Foundation.Operation]) {
        block {
            for operation in operations { await operation.finished() }
        }
    }

    /// Waits for the other operations, apart from those that wait for this one.
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

    /// Blocks the thread while a task waits, and lends the place of an operation that does this out.
    private func block(_ wait: @escaping @Sendable () async -> Void) {
        do {
            _ = try BlockingWait(isUnlimited: true, wait).block()
        } catch {
            fatalError("\(error)")
        }
    }
}

// MARK: - The current queue

extension BridgedOperationQueue {
    private static let known = Lock<[ObjectIdentifier: WeakReference<BridgedOperationQueue>]>([:])

    /// The bridged queue whose operation asks.
    static var bridged: BridgedOperationQueue? {
        guard let taskQueue = TaskOperationQueue.current else { return nil }
        return known.withLock { $0[ObjectIdentifier(taskQueue)]?.object }
    }

    /// From now on `bridged` finds the queue.
    func makeKnown() {
        Self.known.withLock { $0[ObjectIdentifier(taskQueue)] = WeakReference(self) }
    }

    func makeUnknown() {
        Self.known.withLock { $0[ObjectIdentifier(taskQueue)] = nil }
    }
}
