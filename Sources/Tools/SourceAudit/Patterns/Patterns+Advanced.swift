extension Patterns {
    /// Features of libraries that have operations with conditions, observers and groups.
    static let advanced: [Pattern] = [
        Pattern(
            "advanced-condition", .operations, "Condition of operations", recipe: "Advanced/ConditionEvaluation",
            .callers, .leaves, "An operation, and after:.", .analysis),
        Pattern(
            "advanced-waiting-condition", .operations, "Condition that waits for an external event",
            recipe: "Advanced/ReachabilityCondition", .callers, .leaves,
            "An operation with callback:, and dependencies:.", .analysis),
        Pattern(
            "advanced-exclusion", .operations, "Mutual exclusion by category", recipe: "Advanced/MutualExclusion",
            .thought, .graphs, "An AsyncSemaphore of capacity 1.", .analysis),
        Pattern(
            "advanced-group", .operations, "Operation with a queue of its own", recipe: "Advanced/GroupOperation",
            .thought, .leaves, "queue.addGroup { group in … }.", .analysis),
        Pattern(
            "advanced-retry", .operations, "Operation that tries again", recipe: "Advanced/RetryOperation", .callers,
            .leaves, ".retry(.exponential(…)).", .analysis),
        Pattern(
            "advanced-timeout", .operations, "Observer that limits the time of an operation",
            recipe: "Advanced/TimeoutObserver", .rote, .leaves, ".timeout(_:) or .timeout(untilEnd:).", .analysis),
        Pattern(
            "advanced-observer", .operations, "Observer of operations", recipe: "Advanced/BlockObserver", .callers,
            .leaves, "The body, and addCompletionHandler.", .analysis),
        Pattern(
            "advanced-produced", .operations, "Operation that produces others", recipe: "Advanced/ProduceOperation",
            .rote, .leaves, "TaskOperationQueue.current?.addOperation.", .analysis),
        Pattern(
            "advanced-cancel-reason", .operations, "Cancellation with a reason", recipe: "Advanced/CancelWithError",
            .callers, .leaves, "cancel(throwing:), and cancellationCause in the body.", .analysis),
    ]
}
