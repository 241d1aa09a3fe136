import Foundation

/// The work of a case's operations. The subjects are generic over the work, so that a call has no overhead.
protocol Body: SendableMetatype {
    /// Performs the work within a task.
    static func run() async

    /// Performs the work on a thread.
    static func block()
}

enum Empty: Body {
    static func run() async {}
    static func block() {}
}

/// Suspends once. A thread cannot do this.
enum Yielding: Body {
    static func run() async { await Task.yield() }
    static func block() { fatalError("a thread does not suspend") }
}

/// Waits for a millisecond.
enum Sleeping: Body {
    static let milliseconds = 1
    static func run() async { try? await Task.sleep(for: .milliseconds(milliseconds)) }
    static func block() { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
}
