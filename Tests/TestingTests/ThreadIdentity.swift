import Foundation

/// Which thread something runs on.
struct ThreadIdentity: Hashable, Sendable {
    private let thread: ObjectIdentifier

    /// The caller's. Good for as long as that thread lives.
    static var current: Self { Self(thread: ObjectIdentifier(Thread.current)) }
}
