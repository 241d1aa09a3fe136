internal import Foundation

/// The identity of a thread.
package struct ThreadIdentity: Hashable, Sendable {
    private let thread: ObjectIdentifier

    /// The identity of the calling thread. It is unique while that thread exists.
    package static var current: Self { Self(thread: ObjectIdentifier(Thread.current)) }
}
