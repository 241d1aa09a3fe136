import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Transfers as sequences of pieces. If the iteration ends before the transfer, the transfer is cancelled.
final class TransferSession: Sendable {
    typealias Event = (piece: Data, response: URLResponse?)

    private let delegate = TransferDelegate()
    private let session: URLSession

    init() {
        session = URLSession(configuration: .patient, delegate: delegate, delegateQueue: nil)
    }

    /// The session retains its delegate until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    var runningCount: Int { delegate.count }

    /// Transfers the bytes of a file, and reports them as progress of the operation that calls this method.
    ///
    /// - Parameter receive: Called with the bytes so far, each time more have arrived.
    func data(for request: URLRequest, receive: (Data) -> Void) async throws -> Data {
        var data = Data()
        var response: URLResponse?
        for try await (piece, head) in transfer(request) {
            data += piece
            response = head
            receive(data)
            AnyTaskOperation.current?.reportProgress(data.count, of: response.map { Int($0.expectedContentLength) })
        }
        try Task.checkCancellation()
        return try DownloadFailure.check(data, response)
    }

    private func transfer(_ request: URLRequest) -> AsyncThrowingStream<Event, any Error> {
        AsyncThrowingStream { continuation in
            let task = session.dataTask(with: request)
            delegate.add(continuation, for: task)
            continuation.onTermination = { [session] in
                if case .cancelled = $0 { session.cancel(task) }  // not after its end
            }
            task.resume()
        }
    }
}

/// Passes each delegate call to the sequence of its transfer.
private final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Continuation = AsyncThrowingStream<TransferSession.Event, any Error>.Continuation

    private let lock = NSLock()
    private var transfers: [Int: Continuation] = [:]  // reached under `lock` only

    var count: Int { lock.withLock { transfers.count } }

    func add(_ continuation: Continuation, for task: URLSessionTask) {
        lock.withLock { transfers[task.taskIdentifier] = continuation }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock { transfers[dataTask.taskIdentifier] }?.yield((Data(), response))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { transfers[dataTask.taskIdentifier] }?.yield((data, dataTask.response))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock { transfers.removeValue(forKey: task.taskIdentifier) }?.finish(throwing: error)
    }
}
