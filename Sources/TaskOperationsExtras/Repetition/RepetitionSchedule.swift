import TaskOperations

/// The times of the rounds of a repetition, as durations since the first round.
struct RepetitionSchedule: Sendable {
    private let interval: Duration
    let missed: MissedRounds
    /// The number of the round, from 0, including skipped rounds.
    private var number: Int128 = 0

    /// - Parameter interval: The interval, which must be positive.
    init(every interval: Duration, missed: MissedRounds) {
        self.interval = interval.saturated
        self.missed = missed
    }

    /// The time at which the round is due.
    var due: Duration {
        let (due, overflows) = number.multipliedReportingOverflow(by: interval.attoseconds)
        return Duration(attoseconds: overflows ? .max : due).saturated
    }

    /// Advances to the next round after the end of a round.
    mutating func roundEnded(at moment: Duration) {
        number += 1
        guard missed == .skip, moment > due else { return }
        // Rounded up, because a round that is due at this moment is not missed.
        number = (moment.attoseconds - 1) / interval.attoseconds + 1
    }
}
