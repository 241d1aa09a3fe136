public import Foundation
@_spi(Lock) import TaskOperations

/// The bytes of a picture that is not decoded yet, counted for as long as they are held.
public final class PictureBuffer: Sendable {
    private let data: Data
    private let count: BufferCount

    /// Holds bytes.
    public init(_ data: Data, _ count: BufferCount) {
        self.data = data
        self.count = count
        count.add(1)
    }

    deinit { count.add(-1) }

    /// The picture that they are decoded to.
    public var picture: Picture { Picture(decoding: data) }
}

/// How many buffers are held.
public final class BufferCount: Sendable {
    private let count = Lock(0)

    /// Makes a count of none.
    public init() {}

    /// How many are held now.
    public var live: Int { count.withLock { $0 } }

    fileprivate func add(_ difference: Int) {
        count.withLock { $0 += difference }
    }
}
