import Foundation
import MigrationExamplesSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One download: an asynchronous operation with its state by hand.
class ImageDownloadOperation: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    let request: URLRequest
    var onStart: () -> Void = {}
    var onProgress: (_ received: Int, _ expected: Int) -> Void = { _, _ in }
    var onPartialData: (Data) -> Void = { _ in }
    var onEnd: (Result<Data, Error>) -> Void = { _ in }
    /// Set before it starts.
    var isProgressive = false

    private let session: ImageDownloadSession
    private let lock = NSLock()
    private var state = State.waiting
    private var task: URLSessionDataTask?
    /// Reached on the delegate queue only.
    private var data = Data()

    required init(_ request: URLRequest, in session: ImageDownloadSession) {
        self.request = request
        self.session = session
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    override func start() {
        if isCancelled { return end(.failure(URLError(.cancelled))) }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { state = .executing }
        didChangeValue(forKey: "isExecuting")
        onStart()
        let task = session.start(self)
        lock.withLock { self.task = task }
        task.resume()
        if isCancelled { session.cancel(task) }  // it may have come before there was a task
    }

    override func cancel() {
        super.cancel()
        lock.withLock { task }.map(session.cancel)
    }

    func receive(_ response: URLResponse) {
        onProgress(0, Int(response.expectedContentLength))
    }

    func receive(_ piece: Data, of task: URLSessionTask) {
        data.append(piece)
        onProgress(data.count, Int(task.response?.expectedContentLength ?? -1))
        if isProgressive { onPartialData(data) }
    }

    func end(_ task: URLSessionTask, _ error: Error?) {
        end(error.map { .failure($0) } ?? Result { try DownloadFailure.check(data, task.response) })
    }

    func end(_ result: Result<Data, Error>) {
        onEnd(result)
        (onStart, onProgress, onPartialData, onEnd) = ({}, { _, _ in }, { _ in }, { _ in })  // they hold the downloader
        data = Data()
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock {
            state = .finished
            task = nil
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// The delegate of the session. It passes each call to its operation.
final class ImageDownloadSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private lazy var session = URLSession(configuration: .patient, delegate: self, delegateQueue: delegateQueue)
    private let delegateQueue = OperationQueue()
    private let lock = NSLock()
    private var operations: [Int: ImageDownloadOperation] = [:]

    override init() {
        super.init()
        delegateQueue.maxConcurrentOperationCount = 1
        _ = session
    }

    var runningCount: Int { lock.withLock { operations.count } }

    /// Makes the task of an operation. The caller resumes it.
    func start(_ operation: ImageDownloadOperation) -> URLSessionDataTask {
        let task = session.dataTask(with: operation.request)
        lock.withLock { operations[task.taskIdentifier] = operation }
        return task
    }

    func cancel(_ task: URLSessionTask) {
        session.cancel(task)
    }

    /// The session keeps its delegate until then.
    func invalidate() {
        session.finishTasksAndInvalidate()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock { operations[dataTask.taskIdentifier] }?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { operations[dataTask.taskIdentifier] }?.receive(data, of: dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        lock.withLock { operations.removeValue(forKey: task.taskIdentifier) }?.end(task, error)
    }
}
