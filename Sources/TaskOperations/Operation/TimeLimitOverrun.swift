/// The rule for an operation whose time limit has passed and whose body ignores its cancellation.
public enum TimeLimitOverrun: Sendable {
    /// The operation waits for the end of its body, and then fails. Its dependents, and tasks that await it, wait too.
    ///
    /// If the operation was cancelled before its time limit passed, the result of its body is the outcome.
    case wait

    /// The operation fails at once, even if it was cancelled before, and its dependents can start. Its body keeps its
    /// permit until it has ended. Until the body has ended, waits for an empty queue continue, although
    /// `operationCount` no longer counts the operation. The result of the body is discarded.
    case abandon
}
