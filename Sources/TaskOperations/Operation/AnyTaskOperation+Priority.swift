import Synchronization

extension AnyTaskOperation {
    /// The requested priority. It orders the ready operations of a queue, and is the priority of the body's task. You
    /// can change the priority at any time. A change after the end of the operation has no effect.
    ///
    /// There are five levels: `.background`, `.low`, `.medium`, `.high` and user-interactive (raw value 33). A value
    /// between two levels is treated as the lower level. Lowering the priority of an executing operation does not
    /// change the priority of its task.
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

    /// The highest of `priority` and the priorities of all operations and tasks that currently wait for the operation.
    ///
    /// Operations behind a barrier wait for the operations before it. Their priorities are included, but do not change
    /// the order of the operations before the barrier.
    public var effectivePriority: TaskPriority { record.withLock { $0.effectiveLevel }.taskPriority }

    /// The priority by which a queue orders the operation. Unlike `effectivePriority`, it excludes the priorities
    /// inherited from operations behind barriers and from waits for the whole queue. Those priorities raise all
    /// operations alike and do not change their order.
    package var orderPriority: TaskPriority { record.withLock { $0.orderLevel }.taskPriority }

    /// Raises the operation, and all operations for which it waits, to a level. The level remains until the operation
    /// ends.
    package func escalate(to level: PriorityLevel) {
        Inheritance.propagate(.init(target: .operation(self), from: nil, to: level))
    }
}
