extension SchedulerState {
    /// Whether the queue takes operations. It never goes back to a case before.
    enum Intake: Int, Comparable, Sendable {
        case open
        /// Open until it is empty for the first time, then shut.
        case closing
        /// Added operations are refused.
        case shut
        /// Added operations are cancelled.
        case cancelling

        var takes: Bool { self < .shut }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}
