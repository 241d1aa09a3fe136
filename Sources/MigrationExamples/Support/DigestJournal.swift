import Foundation

/// Digests that are collected from any thread.
public final class DigestJournal: @unchecked Sendable {  // `list` is reached under `lock` only.
    private let lock = NSLock()
    private var list = DigestList()

    /// Makes an empty list.
    public init() {}

    /// Adds the outcome of a file.
    public func add(_ file: InputFile, _ outcome: Result<Digest, any Error>) {
        lock.lock()
        list.add(file, outcome)
        lock.unlock()
    }

    /// The digests so far, as a result.
    public var result: RecipeResult {
        lock.lock()
        defer { lock.unlock() }
        return list.result
    }
}
