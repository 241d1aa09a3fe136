import Foundation

/// Counts the pieces of work that run at once, and keeps the highest count.
public final class WorkMeter: @unchecked Sendable {  // All mutable state is accessed only under `lock`.
    private let lock = NSLock()
    private var now = 0
    private var highest = 0

    /// Makes a meter at zero.
    public init() {}

    /// The highest number of pieces of work that ran at once.
    public var most: Int {
        lock.lock()
        defer { lock.unlock() }
        return highest
    }

    /// Counts a piece of work while it runs.
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
