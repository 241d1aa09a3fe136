// Escalation of tasks needs a runtime newer than the platforms that this package supports. If it is missing,
// operations are still raised in their queues; only a task that executes already keeps its priority.

/// Performs an operation, and calls a handler if its task is escalated meanwhile.
@inline(__always)
package func withEscalationHandler<Failure>(
    _ operation: () async throws(Failure) -> Void, onEscalated: @escaping @Sendable (TaskPriority) -> Void
) async throws(Failure) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        try await withTaskPriorityEscalationHandler { () async throws(Failure) in
            try await operation()
        } onPriorityEscalated: { _, priority in
            onEscalated(priority)
        }
    } else {
        try await operation()
    }
}

extension UnsafeCurrentTask {
    /// Raises the task's priority, if the runtime can.
    func escalateIfAvailable(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}

extension Task {
    /// Raises the task's priority, if the runtime can.
    package func escalateIfAvailable(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}
