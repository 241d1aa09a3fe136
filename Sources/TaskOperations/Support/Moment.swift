/// A moment of the continuous clock.
///
/// It replaces `ContinuousClock.Instant` in values that are copied often. The compiler does not know the layout of that type,
/// and copies and destroys values that contain it through tables, which was two fifths of the cost of an event.
package struct Moment: Comparable, Sendable {
    private static let origin = ContinuousClock.now

    /// The time since a moment that is the same for all of the process.
    private let time: Duration

    package init(_ instant: ContinuousClock.Instant) {
        time = Self.origin.duration(to: instant)
    }

    package static var now: Moment { Moment(.now) }

    package var instant: ContinuousClock.Instant { Self.origin.advanced(by: time) }

    package static func < (left: Moment, right: Moment) -> Bool { left.time < right.time }

    package static func - (end: Moment, start: Moment) -> Duration { end.time - start.time }
}
