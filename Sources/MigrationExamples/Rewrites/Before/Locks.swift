import Foundation

public struct Empty: Error {}

public final class LockedStock {
    private static let madeLock = NSLock()
    // Every access holds `madeLock`.
    nonisolated(unsafe) private static var made = 0

    private let lock = NSLock()
    private var items: [String]
    private var sales = 0

    public init(_ items: [String]) {
        self.items = items
        Self.countOne()
    }

    private static func countOne() {
        madeLock.lock()
        made += 1
        madeLock.unlock()
    }

    public static var count: Int {
        madeLock.withLock { made }
    }

    public var isEmpty: Bool {
        get {
            lock.lock()
            defer { lock.unlock() }
            return items.isEmpty
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            if newValue { items.removeAll() }
        }
    }

    public func take() throws -> String {
        lock.lock()
        defer {
            lock.unlock()
        }

        guard let item = items.popLast() else {
            // Nothing is left.
            throw Empty()
        }
        for number in 0..<3 {
            if number == 1 { continue }
            sales += number
        }
        return item
    }

    public func drop() {
        self.lock.lock(); defer { self.lock.unlock() }
        items.removeLast()
    }

    public func text(_ isLong: Bool) -> String {
        if isLong {
            return lock.withLock { [sales] in
                """
                Sold \(sales),
                  left \(items.count).
                """
            }
        }
        lock.lock()
        defer { lock.unlock() }
        return """
            \(sales)
            """
    }

    public func each(_ body: (String) throws -> Void) rethrows {
        try lock.withLock { () throws -> Void in try items.forEach(body) }
    }
}

public func sumWithLock() -> Int {
    let lock = NSLock()
    // Every access holds `lock`, or follows all iterations.
    nonisolated(unsafe) var sum = 0
    DispatchQueue.concurrentPerform(iterations: 100) { number in
        lock.lock()
        defer { lock.unlock() }
        guard number % 2 == 0 else { return }
        sum += number
    }
    return sum
}

public struct CopiedStock {
    // Not rewritten: the type is a structure.
    private let lock = NSLock()
    public init() {}
    public func take() -> Int { lock.withLock { 1 } }
}

public final class PassedLock {
    // Not rewritten: the lock is passed on.
    private let lock = NSLock()
    public init() {}
    public func take() -> Int { take(lock) }
    private func take(_ other: NSLock) -> Int { other.try() ? 1 : 0 }
}
