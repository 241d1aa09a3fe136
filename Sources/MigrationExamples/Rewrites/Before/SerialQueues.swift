import Foundation

public final class Registry {
    private let queue = DispatchQueue(label: "registry")
    private var names: [String: Int] = [:]

    public init() {}

    public subscript(name: String) -> Int? {
        get { queue.sync { names[name] } }
        set { queue.sync { names[name] = newValue } }
    }

    public func all() -> [String] {
        queue.sync {
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
