import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A delegate as in old code. It collects data on the session's delegate queue, and reports the end of the task.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let meter = ConcurrencyMeter()
    /// Whether each call ran on the queue.
    let places = Recorder<Bool>()
    let ended = Gate()
    private let queue: BridgedOperationQueue
    private let received = Lock(Data())
    private let failure = Lock<URLError.Code?>(nil)
    private let onData: @Sendable (URLSessionTask) -> Void

    /// - Parameter onData: Called each time data arrives.
    init(on queue: BridgedOperationQueue, onData: @escaping @Sendable (URLSessionTask) -> Void = { _ in }) {
        self.queue = queue
        self.onData = onData
    }

    var data: Data { received.withLock { $0 } }

    var error: URLError.Code? { failure.withLock { $0 } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        call {
            received.withLock { $0 += data }
            onData(dataTask)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        call {
            failure.withLock { $0 = (error as? URLError)?.code }
        }
        Task { await ended.pass() }
    }

    private func call(_ work: () -> Void) {
        meter.enter()
        places.record(BridgedOperationQueue.current === queue)
        work()
        meter.leave()
    }
}
