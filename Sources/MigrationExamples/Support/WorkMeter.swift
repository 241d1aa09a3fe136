import Foundation

/// Counts how many do something at once, and keeps the most there ever were.
public final class WorkMeter: @unchecked Sendable {  // All that changes is reached under `lock` only.
    private let lock = NSLock()
    private var now = 0
    private var highest = 0

    /// Makes a meter at zero.
    public init() {}

    /// The most that did something at once.
    public var most: Int {
        lock.lock()
        defer { lock.unlock() }
        return highest
    }

    /// Counts a piece of work while it is done.
    public func measure<Value>(_ work: () throws -> Value) rethrows -> Value {
        count(1)
        defer { count(-1) }
        return try work()
    }

    private func count(_ step: Int) {
        lock.lock()
        now += step
        highest = max(highest, now)
        lock.unlock()
    }
}
