/// What becomes of the rounds of a repetition whose time has come before the round before them had ended.
public enum MissedRounds: Sendable {
    /// They are left out: the next round comes at the next time that lies ahead.
    case skipped

    /// They follow one another at once, until none is left.
    case caughtUp
}
