// What the bridge needs of operations beyond their public interface: one that stands for something which is not run
// here, waiting for such a thing without lending the permit, and a body that has a place of its own.

extension TaskOperation where Success == Void {
    /// Makes an operation that stands for something else: nothing can add or start it, and `endFromOutside` ends it.
    ///
    /// - Parameter keeping: Kept alive for as long as the operation is and has not ended.
    package static func standIn(name: String?, keeping: some AnyObject & Sendable) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) { extendLifetime(keeping) }
        operation.record.withLock { $0.wasSubmitted = true }
        return operation
    }
}

extension AnyTaskOperation {
    /// Ends an operation that stands for something else, where it has not ended. What waits for it goes on.
    package func endFromOutside() {
        let ending = record.withLock { $0.phase == .created ? $0.end(nil) : nil }
        if let ending { carryOutUnstarted(ending, nil) }
    }

    /// Waits for the end as `waitUntilFinished` does, but the body that waits keeps its permit: what it waits for
    /// is a part of its own work.
    package func waitUntilFinishedKeepingPermit() async {
        await Self.whileKeepingPermit(.operation(self)) { _ = await suspendUntilFinished(endsEarly: false) }
    }

    /// Has the body run on an executor in queues that have none themselves. What comes after it there, and wants the same
    /// one, runs on the same task without leaving that executor in between.
    ///
    /// To be called before the operation is added.
    package func runBody(on executor: any TaskExecutor) {
        record.withLock { $0.madeLinks().executor = executor }
    }
}
