/// The rule for an operation whose body ignores its cancellation after a time limit has passed.
public enum TimeLimitOverrun: Sendable {
    /// The operation fails after its body has ended. Dependents, and tasks that await the operation, wait until then.
    ///
    /// If the operation was cancelled before its time limit passed, its outcome is the result of its body.
    case wait

    /// The operation fails at once, even if it was cancelled before, and its dependents can start. The result of the
    /// body is discarded.
    ///
    /// The body keeps its permit until it has ended. Waits for an empty queue also continue until the body has ended,
    /// although `operationCount` no longer includes the operation.
    case abandon
}
