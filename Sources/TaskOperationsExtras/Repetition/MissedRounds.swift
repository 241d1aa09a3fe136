import TaskOperations

/// The rule for missed rounds of a repetition.
///
/// A round is missed in these cases:
///
/// - It is due before the previous round has ended.
/// - The queue or a limit has no room for it, or the queue drops it or expects it to start too late.
public enum MissedRounds: Sendable {
    /// Skips missed rounds. The next round runs at the next due time in the future.
    case skip

    /// Runs missed rounds immediately, one after the other. If the queue is full, the round waits for room. After
    /// another refusal, the next attempt follows after one interval.
    case catchUp
}
