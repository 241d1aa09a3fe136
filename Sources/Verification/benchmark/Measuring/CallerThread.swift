import Dispatch
import TaskOperations

/// The thread from which every subject with a synchronous interface adds its work.
let mainThread = CallerThread()

/// A thread that runs the jobs of tasks, one after the other.
final class CallerThread: Sendable {
    private typealias Job = @Sendable () -> Void

    /// The jobs in the order of the requests; nil marks the end.
    private let jobs = Lock<[Job?]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    /// Runs jobs on the calling thread until `stop` is called.
    func serve() {
        while let job = next() { job() }
    }

    func stop() { ask(nil) }

    /// Runs a function on the thread. The function may block.
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
