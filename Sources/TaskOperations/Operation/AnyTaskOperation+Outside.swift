// What the bridge needs of operations beyond their public interface: one that stands for something which is not run
// here, and waiting for such a thing without lending the permit.

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
        await Self.whileKeepingPermit(.operation(self)) { await suspendUntilFinished() }
    }
}
