import TaskOperations

/// The rule for rounds of a repetition that are due before the previous round has ended, or for which the queue has no room.
public enum MissedRounds: Sendable {
    /// They are skipped: the next round runs at the next due time in the future.
    case skip

    /// They follow one another at once, until none is left. A round for which there is no room waits for it.
    case catchUp
}
