/// What becomes of an operation whose time is over, and whose body, which is cancelled then, goes on.
public enum TimeLimitOverrun: Sendable {
    /// The operation waits for the end of its body, and fails then. For as long as the body ignores its cancellation, all
    /// that waits for the operation waits too.
    ///
    /// An operation that was cancelled before its time was over is not timed out: what its body throws is the outcome.
    case wait

    /// The operation fails at once, cancelled before or not, and all that waits for it goes on. Its body keeps its permit
    /// until it has really ended; until then the queue is not empty for those that wait for that, although
    /// `operationCount` no longer counts the operation. What the body returns or throws is dropped.
    case abandon
}
