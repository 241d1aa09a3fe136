/// The time of a queue that has a rate or ageing: how much has passed since it was made, as it was told.
///
/// A clock that goes back does not take time away, and one that leaps on is followed.
struct QueueTime: Hashable, Sendable {
    /// How much has passed.
    private(set) var now = Duration.zero
    /// The last reading of the clock.
    private(set) var told = Duration.zero
    /// When the queue is woken; nil if it need not be.
    private(set) var wakeTime: Duration?

    /// The clock shows another time.
    ///
    /// - Parameter mayBeOld: Whether that was read before a time that is known already.
    mutating func advance(to time: Duration, mayBeOld: Bool = false) {
        if mayBeOld, time < told { return }
        // The scale of deadlines has changed.
        if time < told { wakeTime = nil }
        now += max(.zero, time - told)
        told = time
    }

    /// Plans to wake the queue at a time. Returns the reading of the clock at that time; nil if the queue is woken before.
    mutating func wake(at time: Duration) -> Duration? {
        if let wakeTime, wakeTime <= time { return nil }
        wakeTime = time
        return told + (time - now)
    }

    /// The queue was woken.
    mutating func noteWake() { wakeTime = nil }
}
