import Dispatch

/// Runs one job at a time on its own dispatch queue, and retains an object until it is freed itself.
final class SingleThreadExecutor: TaskExecutor {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    private let queue = DispatchQueue(label: "SingleThreadExecutor")
    private let companion: (any Sendable)?

    init(_ companion: (any Sendable)? = nil) {
        self.companion = companion
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Whether the caller runs on this executor.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }
}
