public import Foundation
import TaskOperations

/// The bytes of a picture before it is decoded. The buffer is counted while it exists.
public final class PictureBuffer: Sendable {
    private let data: Data
    private let count: BufferCount

    /// Creates a buffer, and counts it.
    public init(_ data: Data, _ count: BufferCount) {
        self.data = data
        self.count = count
        count.add(1)
    }

    deinit { count.add(-1) }

    /// The decoded picture.
    public var picture: Picture { Picture(decoding: data) }
}

/// Counts the existing buffers.
public final class BufferCount: Sendable {
    private let count = Lock(0)

    /// Creates a count of 0.
    public init() {}

    /// The number of buffers that exist now.
    public var live: Int { count.withLock { $0 } }

    fileprivate func add(_ difference: Int) {
        count.withLock { $0 += difference }
    }
}
