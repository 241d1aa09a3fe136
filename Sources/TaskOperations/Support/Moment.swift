/// A moment of the continuous clock.
///
/// Kept instead of `ContinuousClock.Instant` by what is copied often: the layout of that is not known to the compiler, so
/// that whatever has one in it is copied and destroyed through tables, which was two fifths of what an event costs.
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
