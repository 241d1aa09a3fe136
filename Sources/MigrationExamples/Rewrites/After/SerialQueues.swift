import Foundation
import Synchronization

public final class Registry {
    private let queue = Mutex(())
    private var names: [String: Int] = [:]

    public init() {}

    public subscript(name: String) -> Int? {
        get { queue.withLock { _ in names[name] } }
        set { queue.withLock { _ in names[name] = newValue } }
    }

    public func all() -> [String] {
        queue.withLock { _ in
            let sorted = names.keys.sorted()
            return sorted
        }
    }
}

public final class Diary: @unchecked Sendable {
    // All accesses to `lines` are in closures of one serial queue.
    // Not rewritten: the caller does not wait for the work.
    private let queue = DispatchQueue(label: "log")
    private var lines: [String] = []

    public init() {}

    public func write(_ line: String) {
        queue.async { self.lines.append(line) }
    }

    public func text() -> String { queue.sync { lines.joined(separator: ", ") } }
}
