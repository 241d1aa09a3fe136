import Foundation

/// Lines that are written from any thread, in the order of writing.
public final class Journal: @unchecked Sendable {  // `written` is reached under `lock` only.
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

    /// The lines that were written so far.
    public var lines: [String] {
        lock.lock()
        defer { lock.unlock() }
        return written
    }

    /// The lines, in the order of writing, as a result.
    public var result: RecipeResult { RecipeResult(lines.joined(separator: ", ")) }
}
