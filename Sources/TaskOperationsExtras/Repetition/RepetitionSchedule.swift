import TaskOperations

/// The times of the rounds of a repetition, as durations since the first round.
struct RepetitionSchedule: Sendable {
    private let interval: Duration
    let missed: MissedRounds
    /// The number of the round, from 0, including skipped rounds.
    private var number: Int128 = 0

    /// - Parameter interval: Positive.
    init(every interval: Duration, missed: MissedRounds) {
        self.interval = interval.saturated
        self.missed = missed
    }

    /// When the round is due.
    var due: Duration {
        let (due, overflows) = number.multipliedReportingOverflow(by: interval.attoseconds)
        return Duration(attoseconds: overflows ? .max : due).saturated
    }

    /// A round has ended.
    mutating func roundEnded(at moment: Duration) {
        number += 1
        guard missed == .skip, moment > due else { return }
        // Rounded up: a round that is due just now is not missed.
        number = (moment.attoseconds - 1) / interval.attoseconds + 1
    }
}
