import Foundation
import MigrationExamplesSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Legacy {
    /// Downloads pictures for a delegate. Of four downloads three are cancelled, each before another of its steps.
    public static func downloadOperation(_ input: RecipeInput) throws -> RecipeResult {
        let server = try input.server
        let session = URLSession(configuration: .patient)
        defer { session.finishTasksAndInvalidate() }
        let buffers = BufferCount()
        let gallery = PictureGallery()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3

        let steps: [PictureDownloadOperation.Step?] = [nil, .download, .decode, .report]
        for (number, file) in input.pictures.enumerated() {
            let download = PictureDownloadOperation(file, server.url(of: file), in: session, buffers)
            download.delegate = gallery
            download.willBegin = { [unowned download] step in
                if step == steps[number % steps.count] { download.cancel() }
            }
            queue.addOperation(download)
        }
        input.cancellation.onCancel { queue.cancelAllOperations() }
        queue.waitUntilAllOperationsAreFinished()
        let shown = DispatchQueue.main.sync { gallery.list.result }  // after all that was sent there before
        try input.cancellation.check()
        return shown.adding(["\(buffers.live) buffers held"])
    }
}

/// Is told of downloads that were not cancelled, on the main queue.
protocol PictureDownloadDelegate: AnyObject {
    func pictureDownload(_ download: PictureDownloadOperation, didEndWith result: Result<Picture, Error>)
}

/// Shows the results. Used on the main queue only.
final class PictureGallery: PictureDownloadDelegate, @unchecked Sendable {
    private(set) var list = DigestList()

    func pictureDownload(_ download: PictureDownloadOperation, didEndWith result: Result<Picture, Error>) {
        dispatchPrecondition(condition: .onQueue(.main))
        list.add(download.file, result)
    }
}

/// Downloads a picture, decodes it, and hands it to its delegate.
final class PictureDownloadOperation: Operation, @unchecked Sendable {
    enum Step { case download, decode, report }

    let file: InputFile
    weak var delegate: PictureDownloadDelegate?
    var willBegin: (Step) -> Void = { _ in }

    private let url: URL
    private let session: URLSession
    private let buffers: BufferCount
    private let lock = NSLock()
    private var task: URLSessionDataTask?
    /// Set on the session's queue, and read when that has signalled.
    private var received: Result<Data, Error> = .failure(CancellationError())
    private var buffer: PictureBuffer?

    init(_ file: InputFile, _ url: URL, in session: URLSession, _ buffers: BufferCount) {
        self.file = file
        self.url = url
        self.session = session
        self.buffers = buffers
    }

    // region: download-operation
    override func main() {
        defer { buffer = nil }
        do {
            try begin(.download)
            buffer = PictureBuffer(try download(), buffers)
            try begin(.decode)
            let picture = buffer!.picture
            buffer = nil  // the report may have to wait, and needs it no more
            try begin(.report)
            report(.success(picture))
        } catch {
            if !isCancelled { report(.failure(error)) }
        }
    }

    override func cancel() {
        super.cancel()
        lock.withLock { task }.map(session.cancel)
    }

    private func begin(_ step: Step) throws {
        willBegin(step)
        if isCancelled { throw CancellationError() }
    }

    /// Blocks its thread until all bytes are there.
    private func download() throws -> Data {
        let isDone = DispatchSemaphore(value: 0)
        let task = session.dataTask(with: url) { data, response, error in
            self.received = Result {
                if let error { throw error }
                return try DownloadFailure.check(data ?? Data(), response)
            }
            isDone.signal()
        }
        lock.withLock { self.task = task }
        task.resume()
        if isCancelled { session.cancel(task) }  // it may have come before there was a task
        isDone.wait()
        lock.withLock { self.task = nil }  // it has ended, and is not to be cancelled any more
        defer { received = .failure(CancellationError()) }
        return try received.get()
    }
    // endregion

    private func report(_ result: Result<Picture, Error>) {
        DispatchQueue.main.async { self.delegate?.pictureDownload(self, didEndWith: result) }
    }
}
