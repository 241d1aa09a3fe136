import Foundation
public import MigrationExamplesSupport
import Synchronization
import TaskOperations
import TaskOperationsExtras

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads each picture once for all of its requests, in each order that the downloader supports.
    public static func imageDownloader(_ input: RecipeInput) async throws -> RecipeResult {
        let server = try input.server
        // region: image-downloader
        let downloader = ImageDownloader(width: 4)
        let gallery = ImageGallery()

        // A list and a page want each picture. A prefetcher asks for all, and for the last one alone, and changes
        // its mind: the downloads continue while others request them.
        downloader.isSuspended = true
        var requests: [(file: InputFile, reader: String, request: ImageRequest<Picture>)] = []
        var prefetches: [ImageRequest<Void>] = []
        for file in input.pictures {
            let url = server.url(of: file)
            for reader in ["list", "page"] where file != input.pictures.last {
                let request = try downloader.request(url) { image in
                    await gallery.noteAnswer(for: file, reader)
                    return image.picture
                }
                requests.append((file, reader, request))
            }
            let options = ImageOptions(priority: .low)
            prefetches.append(try downloader.request(url, options) { _ in await gallery.takeUnwanted() })
        }
        prefetches.forEach { $0.cancel() }

        try await withTaskCancellationHandler {
            downloader.isSuspended = false
            await withTaskGroup { group in
                for (file, reader, request) in requests {
                    group.addTask { await gallery.take(request, for: file, reader) }
                }
            }
            try await downloader.waitUntilIdle()
        } onCancel: {
            downloader.cancelAll()
        }
        // endregion
        try Task.checkCancellation()

        let urls = input.pictures.prefix(6).map { server.url(of: $0) }
        let stack = try await startOrder(of: urls, .lastInFirstOut, [.medium])
        let priorities = try await startOrder(of: urls, .firstInFirstOut, [.low, .medium, .high])
        return await gallery.result([
            "\(downloader.started.count) downloads", "\(downloader.runningCount) left running",
            "last in first out \(stack)", "by priority \(priorities)", try withoutNetwork(),
            try partialPictures(urls.first),
        ])
    }

    /// Replaces the network transfer with a custom one, and makes a request without a URL.
    private static func withoutNetwork() async throws -> String {
        let downloader = ImageDownloader(width: 1) { request in Data(request.url!.path.utf8) }
        let picture = try await downloader.image(at: URL(string: "path:/picture"))
        do {
            _ = try await downloader.image(at: nil)
            return "a picture without a URL"
        } catch let error as URLError {
            return "\(picture.size) bytes of a path, no URL: \(error.code == .badURL)"
        }
    }

    /// Shows a picture while it arrives. The loop ends with the download; then the result is finished. Cancelling the
    /// caller cancels the request.
    private static func partialPictures(_ url: URL?) async throws -> String {
        let (downloader, sizes) = (ImageDownloader(width: 1), SharedCount())
        guard let url else { return "partial pictures grow, then failed" }
        let request = try downloader.request(url, ImageOptions(isProgressive: true)) { $0 }
        let result = await withTaskCancellationHandler {
            for await picture in request.partialPictures { sizes.add(picture.size - sizes.total) }
            return await request.result
        } onCancel: {
            request.cancel()
        }
        try Task.checkCancellation()
        let end = if case .success = result { "complete" } else { "failed" }
        return "partial pictures \(sizes.total == sizes.most ? "grow" : "shrink"), then \(end)"
    }

    /// Returns the indexes of the URLs in the order in which their downloads start, one at a time.
    private static func startOrder(
        of urls: [URL], _ order: TaskOperationQueue.Configuration.Order, _ priorities: [TaskPriority]
    ) async throws -> [Int] {
        let downloader = ImageDownloader(width: 1, order: order)
        downloader.isSuspended = true
        for (number, url) in urls.enumerated() {
            try downloader.request(url, ImageOptions(priority: priorities[number % priorities.count])) { _ in }
        }
        try await withTaskCancellationHandler {
            downloader.isSuspended = false
            try await downloader.waitUntilIdle()
        } onCancel: {
            downloader.cancelAll()
        }
        return downloader.started.map { urls.firstIndex(of: $0)! }
    }
}

/// The options of a download. Requests share a download if their URL, timeout and use of the cache are equal.
struct ImageOptions {
    var priority = TaskPriority.medium
    var timeout: TimeInterval = 600
    var ignoresCache = false
    /// Whether there are pictures of the bytes so far. The first request of a download decides.
    var isProgressive = false

    fileprivate func request(for url: URL?) throws -> URLRequest {
        guard let url else { throw URLError(.badURL) }
        return URLRequest(
            url: url, cachePolicy: ignoresCache ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy,
            timeoutInterval: timeout)
    }
}

/// A complete picture, and its bytes.
struct DownloadedImage: Sendable {
    let picture: Picture
    let data: Data
}

/// Downloads and decodes pictures. Simultaneous requests for a picture share one download.
///
/// A download retains its downloader. Before you release a suspended downloader that has requests, call `cancelAll()`.
final class ImageDownloader: Sendable {
    private let session = TransferSession()
    // No scopes: the queues belong to the downloader, which all of its callers share.
    private let queue: TaskOperationQueue
    private let downloads: KeyedOperations<URLRequest, DownloadedImage>
    private let responses = TaskOperationQueue(name: "responses", maxConcurrentOperationCount: 1)
    private let transfer: (@Sendable (URLRequest) async throws -> Data)?
    private let decode: @Sendable (Data) throws -> Picture
    private let startedURLs = Mutex<[URL]>([])
    /// The bytes so far of progressive downloads.
    private let received = Mutex<[URLRequest: Data]>([:])

    /// Creates a downloader.
    ///
    /// - Parameters:
    ///   - transfer: Gets the bytes of a picture; over the network if nil.
    ///   - decode: Makes a picture of its bytes.
    init(
        width: Int, order: TaskOperationQueue.Configuration.Order = .firstInFirstOut,
        transfer: (@Sendable (URLRequest) async throws -> Data)? = nil,
        decode: @escaping @Sendable (Data) throws -> Picture = { Picture(decoding: $0) }
    ) {
        queue = TaskOperationQueue(.init(name: "downloads", maxConcurrentOperationCount: width, order: order))
        downloads = KeyedOperations(queue: queue)
        self.decode = decode
        self.transfer = transfer
    }

    var isSuspended: Bool {
        get { queue.isSuspended }
        set { queue.isSuspended = newValue }
    }

    var runningCount: Int { downloads.count + session.runningCount }

    var started: [URL] { startedURLs.withLock { $0 } }

    // region: image-downloader-calls
    /// Downloads a picture, or joins the requests that wait for it.
    func image(at url: URL?, _ options: ImageOptions = ImageOptions()) async throws -> Picture {
        let request = try options.request(for: url)
        return try await downloads.value(for: request, .priority(options.priority)) {
            try await self.load(request, options)
        }.picture
    }

    /// The same for callers that do not wait. Handlers are called one at a time, by priority, then by order of request.
    @discardableResult
    func request<Value>(
        _ url: URL?, _ options: ImageOptions = ImageOptions(),
        handle: @escaping @Sendable (DownloadedImage) async throws -> Value
    ) throws -> ImageRequest<Value> {
        let request = try options.request(for: url)
        let download = downloads.request(request, .priority(options.priority)) {
            try await self.load(request, options)
        }
        let response = responses.addOperation(priority: options.priority, dependencies: [download.operation]) {
            try await handle(download.value)
        }
        return ImageRequest(download: download, response: response, progress: download.progress) {
            try? self.received.withLock { $0[request] }.map(self.decode)
        }
    }
    // endregion

    private func load(_ request: URLRequest, _ options: ImageOptions) async throws -> DownloadedImage {
        startedURLs.withLock { $0.append(request.url!) }
        defer { received.withLock { $0[request] = nil } }
        let data =
            if let transfer {
                try await transfer(request)
            } else {
                try await session.data(for: request) { data in
                    if options.isProgressive { received.withLock { $0[request] = data } }
                }
            }
        return DownloadedImage(picture: try decode(data), data: data)
    }

    func cancelAll() {
        for queue in [queue, responses] { queue.cancelAllOperations() }
    }

    func waitUntilIdle() async throws {
        for queue in [responses, queue] { try await queue.waitUntilAllOperationsAreFinished() }
    }
}

/// A request that can be awaited and cancelled. Cancelling it does not affect other requests for the same picture.
struct ImageRequest<Value: Sendable>: Sendable {
    fileprivate let download: KeyedRequest<DownloadedImage>
    fileprivate let response: TaskOperation<Value>
    let progress: ProgressUpdates
    fileprivate let partialPicture: @Sendable () -> Picture?

    /// The picture of the bytes so far, each time more have arrived. Ends with the download. Bytes that are not enough
    /// for a picture are skipped; `result` has the error of the complete bytes.
    var partialPictures: some AsyncSequence<Picture, Never> {
        progress.compactMap { [partialPicture] _ in partialPicture() }
    }

    var result: Result<Value, any Error> { get async { await response.result } }

    func cancel() {
        download.cancel()
        response.cancel()
    }
}
