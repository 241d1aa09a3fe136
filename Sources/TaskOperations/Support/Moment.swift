/// A moment of the continuous clock.
///
/// It replaces `ContinuousClock.Instant` in values that are copied often. The compiler does not know the layout of that
/// type, and copies and destroys values that contain it through value witness tables. This took 40 % of the cost of an
/// event.
package struct Moment: Comparable, Sendable {
    private static let first = ContinuousClock.now

    /// The time since a moment that is fixed for the whole process.
    private let time: Duration

    /// The moment to which all others are relative.
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
