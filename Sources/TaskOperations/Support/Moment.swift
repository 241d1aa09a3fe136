/// A moment of the continuous clock.
///
/// Values that are copied often contain a moment instead of a `ContinuousClock.Instant`. The compiler does not know the
/// layout of that type. It copies and destroys values with such an instant through value witness tables. This took 40 %
/// of the cost of an event.
package struct Moment: Comparable, Sendable {
    private static let first = ContinuousClock.now

    /// The time since `first`.
    private let time: Duration

    /// The moment `first`, from which all other moments are measured.
    static var origin: Moment { Moment(time: .zero) }

    private init(time: Duration) { self.time = time }

    package init(_ instant: ContinuousClock.Instant) {
        time = Self.first.duration(to: instant)
    }

    package static var now: Moment { Moment(.now) }

    package var instant: ContinuousClock.Instant { Self.first.advanced(by: time) }

    package static func < (left: Moment, right: Moment) -> Bool { left.time < right.time }

    package static func - (end: Moment, start: Moment) -> Duration { end.time - start.time }
}
