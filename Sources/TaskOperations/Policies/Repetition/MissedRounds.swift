/// What becomes of the rounds of a repetition whose time comes before the round before them has ended, or for which the
/// queue has no room.
public enum MissedRounds: Sendable {
    /// They are left out: the next round comes at the next time that lies ahead.
    case skip

    /// They follow one another at once, until none is left. A round for which there is no room waits for it.
    case catchUp
}
