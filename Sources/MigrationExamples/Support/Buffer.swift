/// The beginning of a file in memory. It counts the existing buffers.
public final class Buffer: Sendable {
    public let bytes: [UInt8]
    private let alive: SharedCount

    /// Reads a file. If the file cannot be read, the buffer is empty.
    public init(of file: InputFile, counted alive: SharedCount) {
        bytes = (try? file.contents(upTo: InputFile.sampleSize)) ?? []
        self.alive = alive
        alive.add(1)
    }

    deinit { alive.add(-1) }
}
