internal import Synchronization
import TaskOperations

/// A range that is divided into consecutive portions. Each portion is returned once.
final class ChunkedRange: Sendable {
    private let count: Int
    private let stride: Int
    private let begun = Atomic(0)
    private let stopped = Atomic(false)

    /// - Parameters:
    ///   - count: The length of the range, which begins at 0.
    ///   - stride: The length of a portion.
    init(count: Int, stride: Int) {
        self.count = count
        self.stride = stride
    }

    var total: Int { count / stride + (count % stride == 0 ? 0 : 1) }

    /// Returns the next portion. Returns nil if all portions were returned or `stop` was called.
    func next() -> Range<Int>? {
        if isStopped { return nil }
        let portion = begun.add(1, ordering: .relaxed).oldValue
        if portion >= total { return nil }
        let start = portion * stride
        return start..<start + min(stride, count - start)
    }

    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    func stop() {
        stopped.store(true, ordering: .relaxed)
    }
}
