import Foundation

/// A list of lines. Any thread may append to it.
public final class Journal: @unchecked Sendable {  // `written` is accessed only under `lock`.
    private let lock = NSLock()
    private var written: [String] = []

    /// Makes an empty journal.
    public init() {}

    /// Appends a line.
    public func write(_ line: String) {
        lock.lock()
        written.append(line)
        lock.unlock()
    }

    /// The lines that have been written, in order.
    public var lines: [String] {
        lock.lock()
        defer { lock.unlock() }
        return written
    }

    /// The lines in order, as a result.
    public var result: RecipeResult { RecipeResult(lines.joined(separator: ", ")) }
}
