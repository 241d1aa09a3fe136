internal import TaskOperations

/// Threads on which old code may block: at most 64, started as they are needed, and gone after some seconds without
/// work. Work beyond the 64 waits in line, and may not depend on work behind it, as on any bounded number of threads.
///
/// Each bridged queue has its own, so that one whose operations block does not hold up the others.
final class LegacyThreads: Sendable {
    /// Those for operations of Foundation on queues that have no place of their own.
    static let shared = LegacyThreads()

    private let threads = WorkerThreads(name: "legacy", maxCount: 64, idleTime: 5)

    deinit { threads.close() }

    /// Has work done on one of the threads.
    func run(_ work: @escaping WorkerThreads.Work) {
        let isTaken = threads.submit(work)
        precondition(isTaken, "the threads are not closed before their last owner is released")
    }

    /// Has a function called on one of the threads, and waits until it returns.
    func call<Value: Sendable>(_ function: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: function()) }
        }
    }
}
