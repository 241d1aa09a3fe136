/// The beginning of a file in memory, which counts how many of its kind there are.
public final class Buffer: Sendable {
    public let bytes: [UInt8]
    private let alive: SharedCount

    /// Reads a file; a buffer of one that cannot be read is empty.
    public init(of file: InputFile, counted alive: SharedCount) {
        bytes = (try? file.contents(upTo: InputFile.sampleSize)) ?? []
        self.alive = alive
        alive.add(1)
    }

    deinit { alive.add(-1) }
}
