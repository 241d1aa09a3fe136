import Foundation

/// The identity of a thread.
struct ThreadIdentity: Hashable, Sendable {
    private let thread: ObjectIdentifier

    /// The identity of the calling thread. It is unique while that thread exists.
    static var current: Self { Self(thread: ObjectIdentifier(Thread.current)) }
}
