import Foundation

/// The work of a case's operations. The subjects are generic over it, so that the call itself costs nothing.
protocol Body: SendableMetatype {
    /// Does it within a task.
    static func run() async

    /// Does it on a thread.
    static func block()
}

enum Empty: Body {
    static func run() async {}
    static func block() {}
}

/// Suspends once. There is no doing that on a thread.
enum Yielding: Body {
    static func run() async { await Task.yield() }
    static func block() { fatalError("a thread does not suspend") }
}

/// Takes a millisecond of doing nothing.
enum Sleeping: Body {
    static let milliseconds = 1
    static func run() async { try? await Task.sleep(for: .milliseconds(milliseconds)) }
    static func block() { Thread.sleep(forTimeInterval: Double(milliseconds) / 1000) }
}
