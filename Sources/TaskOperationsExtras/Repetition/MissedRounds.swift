import TaskOperations

/// The rule for missed rounds of a repetition. A round is missed if it is due before the previous round has ended, or
/// while the queue is full.
public enum MissedRounds: Sendable {
    /// Skips missed rounds. The next round runs at the next due time in the future.
    case skip

    /// Runs missed rounds immediately, one after the other. If the queue is full, the round waits for room.
    case catchUp
}
