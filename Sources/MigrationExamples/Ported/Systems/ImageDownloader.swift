import Foundation
public import MigrationExamplesSupport
import Synchronization
import TaskOperations

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads each picture once for all who want it, in the orders that the downloader knows.
    public static func imageDownloader(_ input: RecipeInput) async throws -> RecipeResult {
        // region: image-downloader
        let server = try input.server
        let downloader = ImageDownloader(width: 4)
        let gallery = ImageGallery()

        // A list and a page want each picture. A prefetcher asks for all, and for the last one alone, and changes
        // its mind: the downloads go on as long as anybody else wants them.
        downloader.isSuspended = true
        var requests: [(file: InputFile, reader: String, request: ImageRequest<Picture>)] = []
        for file in input.pictures {
            let url = server.url(of: file)
            for reader in ["list", "page"] where file != input.pictures.last {
                let request = downloader.request(url) { data in
                    await gallery.noteAnswer(for: file, reader)
                    return Picture(decoding: data)
                }
                requests.append((file, reader, request))
            }
            downloader.request(url, priority: .low) { _ in await gallery.takeUnwanted() }.cancel()
        }
        downloader.isSuspended = false

        try await withTaskCancellationHandler {
            await withTaskGroup { group in
                for (file, reader, request) in requests {
                    group.addTask { await gallery.take(request, for: file, reader) }
                }
            }
            try await downloader.waitUntilIdle()
        } onCancel: {
            downloader.cancelAll()
        }
        try Task.checkCancellation()

        let urls = input.pictures.prefix(6).map { server.url(of: $0) }
        let stack = try await startOrder(of: urls, .lastInFirstOut, [.medium])
        let priorities = try await startOrder(of: urls, .firstInFirstOut, [.low, .medium, .high])
        return await gallery.result([
            "\(downloader.started.count) downloads", "\(downloader.runningCount) left running",
            "last in first out \(stack)", "by priority \(priorities)",
        ])
        // endregion
    }

    /// The places of the URLs in the order in which their downloads start, one at a time.
    private static func startOrder(
        of urls: [URL], _ order: OperationOrder, _ priorities: [TaskPriority]
    ) async throws -> [Int] {
        let downloader = ImageDownloader(width: 1, order: order)
        downloader.isSuspended = true
        for (number, url) in urls.enumerated() {
            downloader.request(url, priority: priorities[number % priorities.count]) { _ in }
        }
        downloader.isSuspended = false
        try await downloader.waitUntilIdle()
        return downloader.started.map { urls.firstIndex(of: $0)! }
    }
}

/// Downloads pictures, each once, however many ask for it at the same time.
final class ImageDownloader: Sendable {
    private let session = TransferSession()
    private let queue: TaskOperationQueue
    private let downloads: KeyedOperations<URL, Data>
    private let responses = TaskOperationQueue(name: "responses", maxConcurrentOperationCount: 1)
    private let startedURLs = Mutex<[URL]>([])

    init(width: Int, order: OperationOrder = .firstInFirstOut) {
        queue = TaskOperationQueue(name: "downloads", maxConcurrentOperationCount: width, order: order)
        downloads = KeyedOperations(queue: queue)
    }

    var isSuspended: Bool {
        get { queue.isSuspended }
        set { queue.isSuspended = newValue }
    }

    var runningCount: Int { downloads.count + session.runningCount }

    var started: [URL] { startedURLs.withLock { $0 } }

    /// Downloads, or joins those who wait for the download, and has the bytes handled in the order of the requests.
    @discardableResult
    func request<Value>(
        _ url: URL, priority: TaskPriority = .medium, handle: @escaping @Sendable (Data) async throws -> Value
    ) -> ImageRequest<Value> {
        let download = downloads.request(url, priority: priority) { makeDownload(url) }
        let response = responses.addOperation(priority: priority, dependencies: [download.operation]) {
            try await handle(download.value)
        }
        return ImageRequest(download: download, response: response, progress: download.progress)
    }

    func cancelAll() {
        for queue in [queue, responses] { queue.cancelAllOperations() }
    }

    func waitUntilIdle() async throws {
        for queue in [responses, queue] { try await queue.waitUntilAllOperationsAreFinished() }
    }

    private func makeDownload(_ url: URL) -> TaskOperation<Data> {
        TaskOperation(name: url.path) { [self] in
            startedURLs.withLock { $0.append(url) }
            return try await transfer(url)
        }
    }

    private func transfer(_ url: URL) async throws -> Data {
        var data = Data()
        var response: URLResponse?
        for try await (piece, head) in session.transfer(url) {
            data += piece
            response = head
            AnyTaskOperation.current?.reportProgress(data.count, of: response.map { Int($0.expectedContentLength) })
        }
        try Task.checkCancellation()
        return try DownloadFailure.check(data, response)
    }
}

/// What a requester gets, to wait and to cancel with. The others who want the same picture still get it.
struct ImageRequest<Value: Sendable>: Sendable {
    fileprivate let download: KeyedRequest<Data>
    fileprivate let response: TaskOperation<Value>
    let progress: ProgressUpdates

    var result: Result<Value, any Error> { get async { await response.result } }

    func cancel() {
        download.cancel()
        response.cancel()
    }
}
