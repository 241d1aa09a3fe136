import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Counts the threads of the process repeatedly, on a dedicated thread, and keeps the maximum.
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

    /// The maximum number of threads since the last reset, without the counter's own thread; nil if it is unknown.
    var mostSeen: Int? {
        look()
        let seen = most.load(ordering: .relaxed)
        return seen > 0 ? seen - 1 : nil
    }

    private func look() {
        if let count = Self.count { most.max(count, ordering: .relaxed) }
    }

    /// The number of threads of the process. The system lists threads in a folder with one subfolder, and so one link,
    /// for each thread. Reading the number of links allocates no memory, which would disturb the measurement of memory.
    private static var count: Int? {
        #if canImport(Glibc)
            var list = stat()
            return stat("/proc/self/task", &list) == 0 && list.st_nlink > 2 ? Int(list.st_nlink) - 2 : nil
        #else
            return nil
        #endif
    }
}
