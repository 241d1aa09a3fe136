import Foundation

/// A number that any thread may change.
public final class SharedCount: @unchecked Sendable {  // `count` and `highest` are accessed only under `lock`.
    private let lock = NSLock()
    private var count = 0
    private var highest = 0

    /// Makes a count of 0.
    public init() {}

    /// Adds an amount, which may be negative, to the count.
    public func add(_ amount: Int) {
        lock.lock()
        count += amount
        highest = max(highest, count)
        lock.unlock()
    }

    /// The current count.
    public var total: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }

    /// The highest value that the count has had.
    public var most: Int {
        lock.lock()
        defer { lock.unlock() }
        return highest
    }
}
