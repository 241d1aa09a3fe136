import Foundation

/// A list of digests. Any thread may add to it.
public final class DigestJournal: @unchecked Sendable {  // `list` is accessed only under `lock`.
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

    /// The digests that have been added, as a result.
    public var result: RecipeResult {
        lock.lock()
        defer { lock.unlock() }
        return list.result
    }
}
