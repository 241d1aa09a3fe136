extension AnyTaskOperation {
    /// The priority that was asked for: among ready operations of a queue the higher one starts first, and the
    /// body's task has it. It can be changed at any time; after the end that changes nothing.
    ///
    /// There are five levels, `.background`, `.low`, `.medium`, `.high` and user-interactive (raw value 33); a
    /// value between two of them counts as the lower one. Lowering the priority of an operation that executes
    /// does not slow its task down.
    public var priority: TaskPriority {
        get { record.withLock { $0.level }.taskPriority }
        set {
            Inheritance.change(self) { record in
                guard record.phase != .finished else { return }
                record.level = PriorityLevel(newValue)
                record.isPriorityGiven = true
            }
        }
    }

    /// The effective priority: the highest of `priority` and the priorities of all operations and tasks that wait for the
    /// operation now. Operations behind a barrier count, but do not change the order of the operations before it.
    public var effectivePriority: TaskPriority { record.withLock { $0.effectiveLevel }.taskPriority }

    /// The priority that orders the operation in its queue: `effectivePriority` without the priorities that come from
    /// barriers and from waits for the whole queue. These raise all operations alike and do not change their order.
    package var orderPriority: TaskPriority { record.withLock { $0.orderLevel }.taskPriority }

    /// Raises the operation, and all that it waits for, for a waiter that stays until the end.
    package func escalate(to level: PriorityLevel) {
        Inheritance.carryOut(.init(target: .operation(self), from: nil, to: level))
    }
}
