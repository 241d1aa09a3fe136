import TaskOperations

/// The rule for rounds of a repetition that are due before the previous round has ended, or for which the queue has no
/// room.
public enum MissedRounds: Sendable {
    /// Skips these rounds. The next round runs at the next due time in the future.
    case skip

    /// Runs these rounds immediately one after the other. A round for which the queue has no room waits for room.
    case catchUp
}
