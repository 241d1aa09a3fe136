import TaskOperations

/// The due times of a repetition's rounds, as durations since the due time of the first round.
struct RepetitionSchedule: Sendable {
    let interval: Duration
    let missed: MissedRounds
    /// The number of the current round, from 0. Skipped rounds are counted.
    private var number: Int128 = 0

    /// - Parameter interval: The time between two rounds. It must be positive.
    init(every interval: Duration, missed: MissedRounds) {
        self.interval = interval.saturated
        self.missed = missed
    }

    /// The time at which the current round is due.
    var due: Duration {
        let (due, overflows) = number.multipliedReportingOverflow(by: interval.attoseconds)
        return Duration(attoseconds: overflows ? .max : due).saturated
    }

    /// Advances to the next round after the end of a round.
    mutating func roundEnded(at moment: Duration) {
        number += 1
        guard missed == .skip, moment > due else { return }
        // Rounds up, because a round that is due at this moment is not missed.
        number = (moment.attoseconds - 1) / interval.attoseconds + 1
    }
}
