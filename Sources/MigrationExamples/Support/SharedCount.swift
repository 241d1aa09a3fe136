import Foundation

/// A number that is changed from any thread.
public final class SharedCount: @unchecked Sendable {  // `count` and `highest` are reached under `lock` only.
    private let lock = NSLock()
    private var count = 0
    private var highest = 0

    /// Makes a count of 0.
    public init() {}

    /// Adds to the count; less than nothing to take away from it.
    public func add(_ amount: Int) {
        lock.lock()
        count += amount
        highest = max(highest, count)
        lock.unlock()
    }

    /// The present count.
    public var total: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }

    /// The most that it ever was.
    public var most: Int {
        lock.lock()
        defer { lock.unlock() }
        return highest
    }
}
