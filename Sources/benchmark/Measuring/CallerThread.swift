import Dispatch
@_spi(Lock) import TaskOperations

/// The thread that every subject adds from which can be reached from synchronous code.
let mainThread = CallerThread()

/// A thread that runs the jobs of tasks, one after the other.
final class CallerThread: Sendable {
    private typealias Job = @Sendable () -> Void

    /// In the order of asking; nil is the last.
    private let jobs = Lock<[Job?]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    /// Lends the thread that calls this, until `stop` is called.
    func serve() {
        while let job = next() { job() }
    }

    func stop() { ask(nil) }

    /// Does something on the thread. It may block.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            ask { continuation.resume(returning: work()) }
        }
    }

    private func ask(_ job: Job?) {
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    private func next() -> Job? {
        arrivals.wait()
        return jobs.withLock { $0.removeFirst() }
    }
}
