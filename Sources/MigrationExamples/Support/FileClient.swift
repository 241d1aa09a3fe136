import Dispatch
import TaskOperations

/// A client with completion handlers, like a network client. It answers later on another thread, and its requests can
/// be cancelled. It serves files of the folder.
public final class FileClient: Sendable {
    /// Receives the outcome of a request.
    public typealias Completion = @Sendable (Result<[UInt8], any Error>) -> Void

    private let silentFor: InputFile?

    /// Makes a client.
    ///
    /// - Parameter silentFor: A file whose requests are never answered, as if the server did not respond.
    public init(silentFor: InputFile? = nil) {
        self.silentFor = silentFor
    }

    /// Requests the beginning of a file. The completion handler is called once; with `CancellationError` if the request
    /// was cancelled.
    @discardableResult
    public func load(_ file: InputFile, completion: @escaping Completion) -> FileRequest {
        let request = FileRequest(completion)
        if file != silentFor {
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(200)) {
                request.complete(Result { try file.contents(upTo: InputFile.sampleSize) })
            }
        }
        return request
    }
}

/// A request to a client.
public final class FileRequest: Sendable {
    private let completion: Lock<FileClient.Completion?>

    init(_ completion: @escaping FileClient.Completion) {
        self.completion = Lock(completion)
    }

    /// Cancels the request. If the completion handler has not been called, it is called soon.
    public func cancel() {
        DispatchQueue.global().async { self.complete(.failure(CancellationError())) }
    }

    func complete(_ outcome: Result<[UInt8], any Error>) {
        let completion = completion.withLock { $0.take() }
        completion?(outcome)
    }
}
