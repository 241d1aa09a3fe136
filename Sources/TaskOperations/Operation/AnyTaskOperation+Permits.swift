// What an operation takes while it executes: permits of its queue, and one of each of its limits.

extension AnyTaskOperation {
    /// The number of permits of its queue that the body takes while it executes; 1 unless `setWeight(_:)` was called.
    public var weight: Int { record.withLock { Int($0.weight) } }

    /// Sets how many permits of its queue the body takes while it executes.
    ///
    /// An operation that takes more permits than its queue has runs alone. No operation of the same or a lower priority
    /// overtakes an operation that waits for permits, so that it does not starve.
    ///
    /// - Parameter weight: The number of permits, from 1 to 32,767. Any other number stops the process with a message.
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue or started. Nothing changes then.
    public func setWeight(_ weight: Int) throws(TaskOperationError) {
        Self.check(weight)
        try setPermits { $0.weight = UInt16(weight) }
    }

    /// Semaphores of each of which the operation takes a permit, too, in the order in which they were made.
    public var limits: [AsyncSemaphore] { record.withLock { $0.links?.limits ?? [] } }

    /// Sets semaphores that the operation shares with others, on whatever queues, and with callers of `withPermit`.
    ///
    /// The operation starts when its queue and all of these have a permit. It takes all permits in one step, and releases
    /// those of the semaphores when its body has ended. A semaphore with one permit is mutual exclusion.
    ///
    /// ```swift
    /// let database = AsyncSemaphore(capacity: 1)
    /// reads.addOperation(limits: [database, network]) { … }
    /// writes.addOperation(limits: [database]) { … }
    /// try await database.withPermit { … }
    /// ```
    ///
    /// An operation that waits holds no permit, so that no order of limits is wrong, and operations behind it start that do
    /// not need the permit for which it waits. Operations and tasks get permits by priority, then arrival. While an
    /// operation waits for one limit, others may pass it at another one, but not without end: after 16 times a limit is
    /// kept free for it, in the order in which the semaphores were made.
    ///
    /// The queue takes its own permits at the same moment, and keeps none free for an operation whose limits are taken.
    /// If the limits of an operation are free only while its queue is full, it waits for as long as that lasts: give it a
    /// queue of its own, or a wider one.
    ///
    /// A body keeps the permits of its limits while it awaits something, also if it lends the permit of its queue. It lends
    /// them during a pause between attempts, and takes all of them back, in one step, before the next attempt. An await
    /// of an operation that needs one of them, directly or through others, throws `TaskOperationError.waitCycle`, even if
    /// the semaphore has more permits: they may be taken when the operation wants one. The permits that a task holds by
    /// `withPermit` are not known to operations: if that task awaits an operation that needs them, both wait for ever.
    ///
    /// - Parameter limits: The semaphores, each once. A semaphore that is named twice stops the process with a message.
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue or started. Nothing changes then.
    public func setLimits(_ limits: [AsyncSemaphore]) throws(TaskOperationError) {
        let ordered = ordered(limits)
        try setPermits { $0.setLimits(ordered) }
    }

    /// Sets the permits of an operation that was just made.
    @usableFromInline
    package func initializePermits(weight: Int, limits: [AsyncSemaphore]) {
        Self.check(weight)
        let ordered = ordered(limits)
        record.withLock { record in
            record.weight = UInt16(weight)
            // Without limits, it needs no memory for them.
            if !ordered.isEmpty { record.setLimits(ordered) }
        }
    }

    private func setPermits(_ change: (inout OperationRecord) -> Void) throws(TaskOperationError) {
        let isSet = record.withLock { record in
            if record.wasSubmitted || record.phase != .created { return false }
            change(&record)
            return true
        }
        if !isSet { throw .alreadyAdded(OperationLabel(self)) }
    }

    private static func check(_ weight: Int) {
        require((1...highestWeight).contains(weight), "weight is \(weight); it must be from 1 to \(highestWeight).")
    }

    private func ordered(_ limits: [AsyncSemaphore]) -> [AsyncSemaphore] {
        let ordered = limits.sorted { $0.number < $1.number }
        require(
            zip(ordered, ordered.dropFirst()).allSatisfy { $0 !== $1 },
            "limits of \(OperationLabel(self)) has a semaphore twice. Name each once: one permit of it is taken.")
        return ordered
    }

    private static var highestWeight: Int { Int(Int16.max) }
}

extension OperationRecord {
    fileprivate mutating func setLimits(_ limits: [AsyncSemaphore]) {
        madeLinks().limits = limits
        hasLimits = !limits.isEmpty
    }
}
