extension SchedulerState {
    /// Whether the queue takes operations. It never goes back to a case before.
    enum Intake: Int, Comparable, Sendable {
        case open
        /// Open until it is empty for the first time, then shut.
        case closing
        /// What is added is refused.
        case shut
        /// What is added is cancelled.
        case cancelling

        var takes: Bool { self < .shut }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}
