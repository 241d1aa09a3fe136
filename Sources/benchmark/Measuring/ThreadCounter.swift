import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Counts the threads of the process from time to time, on a thread of its own, and keeps the highest count.
final class ThreadCounter: Sendable {
    private let most = Atomic(0)

    init() {
        if Self.count == nil { return }
        Thread.detachNewThread { [weak self] in
            while let self {
                look()
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
    }

    func reset() { most.store(0, ordering: .relaxed) }

    /// The most threads since the last reset, the counter's own left out; nil where the system does not tell.
    var mostSeen: Int? {
        look()
        let seen = most.load(ordering: .relaxed)
        return seen > 0 ? seen - 1 : nil
    }

    private func look() {
        if let count = Self.count { most.max(count, ordering: .relaxed) }
    }

    /// The threads of the process. Allocates nothing, as the memory in use is being measured meanwhile.
    private static var count: Int? {
        #if canImport(Glibc)
            let file = open("/proc/self/status", O_RDONLY)
            if file < 0 { return nil }
            defer { close(file) }
            return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
                let length = read(file, buffer.baseAddress, buffer.count)
                return length > 0 ? number(after: "\nThreads:\t", in: buffer.prefix(length)) : nil
            }
        #else
            return nil
        #endif
    }

    private static func number(after key: StaticString, in text: Slice<UnsafeMutableRawBufferPointer>) -> Int? {
        let key = UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        for start in text.indices.dropLast(key.count) where text[start...].starts(with: key) {
            let digits = text[(start + key.count)...].prefix { (48...57).contains($0) }
            return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        }
        return nil
    }
}
