extension AnyTaskOperation {
    /// Semaphores that the operation shares with others, on whatever queues, and with callers of `withPermit`. It starts
    /// when its queue and all of these have room, takes one permit of each or none at all, and gives them back when its
    /// body is done. A semaphore with one permit is mutual exclusion.
    ///
    /// ```swift
    /// let database = AsyncSemaphore(capacity: 1)
    /// reads.addOperation(limits: [database, network]) { … }
    /// writes.addOperation(limits: [database]) { … }
    /// try await database.withPermit { … }
    /// ```
    ///
    /// While it waits it holds nothing, so no order of limits is wrong, and operations behind it that do not need what it
    /// waits for go on. Who comes first is decided by priority, then by arrival, among operations and tasks alike;
    /// but a queue may start up to 16 operations with the same limits in a row before it lets go of these for others of
    /// the same priority. While an operation waits for one limit, others may pass it at the next one; but not for ever: when
    /// they have done so 16 times, its limits are kept free for it one after the other, in the order in which the semaphores
    /// were made. Code that holds permits of one semaphore and waits for those of another should take them in that order.
    ///
    /// The permits are kept while the body awaits something, also if its queue's permit is lent. So a body that has limits
    /// must not await an operation that has any: it may need one of the body's, or one that is kept free for an operation
    /// which needs one of the body's. Limits are not in the wait graph, so that this is not refused, and never ends.
    ///
    /// Permits that the queue gives and limits are taken at the same moment. The queue keeps no permit free for an operation
    /// whose limits are taken, as what holds them may need that permit. So one whose limits are free only while its queue
    /// is full waits for as long as that lasts: give it a queue of its own, or a queue that is wide enough.
    ///
    /// To be set before the operation is added; later it stops the process with a message, and so does naming a semaphore
    /// twice.
    public var limits: [AsyncSemaphore] {
        get { record.withLock { $0.links?.limits ?? [] } }
        set {
            let limits = newValue.sorted { $0.number < $1.number }
            require(
                zip(limits, limits.dropFirst()).allSatisfy { $0 !== $1 },
                "limits of \(OperationLabel(self)) has a semaphore twice. Name each once: one permit of it is taken.")
            let isSet = record.withLock { record in
                if record.wasSubmitted || record.phase != .created { return false }
                record.madeLinks().limits = limits
                record.hasLimits = !limits.isEmpty
                return true
            }
            require(
                isSet, "the limits of \(OperationLabel(self)) are set too late. Set them before adding the operation.")
        }
    }
}
