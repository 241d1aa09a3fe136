public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLSession {
    /// Returns the contents of a URL, like `data(from:)`.
    ///
    /// On Linux, `data(from:)` can block two threads forever if its task is cancelled while the transfer ends:
    /// https://github.com/swiftlang/swift-corelibs-foundation/issues/5412. The runtime holds a lock of the task while
    /// it calls the cancellation handler. The handler waits for the queue of the session. That queue resumes the task,
    /// and for this waits for the lock. Here another queue resumes the task.
    public func transfer(_ url: URL) async throws -> (Data, URLResponse) {
        let (results, continuation) = AsyncThrowingStream.makeStream(of: (Data, URLResponse).self)
        let task = dataTask(with: url) { data, response, error in
            if let data, let response { continuation.yield((data, response)) }
            continuation.finish(throwing: error)
        }
        continuation.onTermination = { if case .cancelled = $0 { self.cancel(task) } }
        task.resume()
        // Reads up to the end. A return in the loop would cancel the request in the middle of its completion handler.
        var transferred: (Data, URLResponse)?
        for try await result in results { transferred = result }
        guard let transferred else { throw CancellationError() }
        return transferred
    }

    /// Cancels a task of the session.
    ///
    /// On Linux, the process stops if `cancel()` meets the end of its task: it tells the session's table of a failure
    /// after the task has left the table. A task leaves the table after a block on the delegate queue, which has a width
    /// of 1. A cancellation on that queue therefore comes before or after the end. The second call waits until the work
    /// of the first is done. The session must have no cache.
    public func cancel(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
            delegateQueue.addOperation {
                task.cancel()
                task.cancel()
            }
        #else
            task.cancel()
        #endif
    }
}
