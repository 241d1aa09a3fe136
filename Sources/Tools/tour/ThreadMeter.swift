import Foundation
import TaskOperations

/// Measures the maximum number of threads that a piece of work used at once. Supports only Linux.
///
/// Threads of earlier work stay in the pools of Dispatch for some seconds. So a thread counts only if it was created,
/// or has run, since the meter was created. The thread that takes the samples does not count.
final class ThreadMeter: Sendable {
    private struct State: Sendable {
        /// The threads of each sample that differs from the previous sample.
        var samples: [Set<String>] = []
        var looks = 0
        var sampler: String?
    }

    private let before = ThreadMeter.accounts()
    private let state = Lock(State())

    /// Samples the threads of the process. Call it repeatedly on a dedicated thread.
    ///
    /// The time for a list of threads is linear in their number. So nine of ten samples read only the number of
    /// threads, unless the number has changed.
    func sample() {
        let isDue = state.withLock { state in
            defer { state.looks += 1 }
            return state.looks.isMultiple(of: 10) || state.samples.last?.count != Self.count()
        }
        if !isDue { return }
        let threads = Set(Self.threads())
        let isFirst = state.withLock { state in
            if state.samples.last != threads { state.samples.append(threads) }
            return state.sampler == nil
        }
        if isFirst {
            let own = Self.ownThread()
            state.withLock { $0.sampler = own }
        }
    }

    /// The maximum number of threads so far; nil if it is unknown.
    func most() -> Int? {
        let after = Self.accounts()
        if after.isEmpty { return nil }
        let idle = before.filter { thread, account in after[thread] == account || after[thread] == nil }
        let most = state.withLock { state in
            (state.samples + [Set(after.keys)]).map { threads in
                threads.count { idle[$0] == nil && $0 != state.sampler }
            }.max()
        }
        // The system's accounts do not include a thread that has run without interruption. At least one thread did the
        // work.
        return max(1, most ?? 1)
    }
}

#if os(Linux)
    extension ThreadMeter {
        private static func threads() -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        }

        /// The number of threads. Each thread is a folder in the system's list of threads, and therefore one link of
        /// the list's folder.
        private static func count() -> Int? {
            var list = stat()
            return stat("/proc/self/task", &list) == 0 ? Int(list.st_nlink) - 2 : nil
        }

        /// The system's accounting data of each thread, which changes whenever the thread runs.
        private static func accounts() -> [String: String] {
            var accounts: [String: String] = [:]
            for thread in threads() {
                accounts[thread] = try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)
            }
            return accounts
        }

        private static func ownThread() -> String? {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            return link?.split(separator: "/").last.map(String.init)
        }
    }
#else
    extension ThreadMeter {
        private static func threads() -> [String] { [] }
        private static func count() -> Int? { nil }
        private static func accounts() -> [String: String] { [:] }
        private static func ownThread() -> String? { nil }
    }
#endif
