import Foundation
import Synchronization

public struct Empty: Error {}

public final class LockedStock {
    private static let madeLock = Mutex(())
    // Every access holds `madeLock`.
    nonisolated(unsafe) private static var made = 0

    private let lock = Mutex(())
    private var items: [String]
    private var sales = 0

    public init(_ items: [String]) {
        self.items = items
        Self.countOne()
    }

    private static func countOne() {
        madeLock.withLock { _ in
            made += 1
        }
    }

    public static var count: Int {
        madeLock.withLock { _ in made }
    }

    public var isEmpty: Bool {
        get {
            return lock.withLock { _ in
                return items.isEmpty
            }
        }
        set {
            lock.withLock { _ -> Void in
                if newValue { items.removeAll() }
            }
        }
    }

    public func take() throws -> String {
        return try lock.withLock { _ in
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
    }

    public func drop() {
        self.lock.withLock { _ -> Void in
            items.removeLast()
        }
    }

    public func text(_ isLong: Bool) -> String {
        if isLong {
            return lock.withLock { [sales] _ in
                """
                Sold \(sales),
                  left \(items.count).
                """
            }
        }
        return lock.withLock { _ in
            return """
                \(sales)
                """
        }
    }

    public func each(_ body: (String) throws -> Void) rethrows {
        try lock.withLock { (_) throws -> Void in try items.forEach(body) }
    }
}

public func sumWithLock() -> Int {
    let lock = Mutex(())
    // Every access holds `lock`, or follows all iterations.
    nonisolated(unsafe) var sum = 0
    DispatchQueue.concurrentPerform(iterations: 100) { number in
        lock.withLock { _ in
            guard number % 2 == 0 else { return }
            sum += number
        }
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
