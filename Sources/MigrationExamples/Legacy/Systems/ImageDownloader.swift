import Foundation
import MigrationExamplesSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Legacy {
    /// Downloads each picture once for all requests, in the orders of the downloader.
    public static func imageDownloader(_ input: RecipeInput) throws -> RecipeResult {
        let server = try input.server
        // region: image-downloader
        let downloader = ImageDownloader(width: 4)
        input.cancellation.onCancel { downloader.cancelAll() }
        let gallery = ImageGallery()

        // A list and a page want each picture. A prefetcher asks for all, and for the last one alone, and changes
        // its mind: the downloads continue while others request them.
        downloader.isSuspended = true
        var prefetches: [ImageDownloadToken] = []
        for file in input.pictures {
            let url = server.url(of: file)
            for reader in ["list", "page"] where file != input.pictures.last {
                downloader.download(url) { received, expected in
                    gallery.note(received, of: expected, for: file, reader)
                } completion: { picture, _, error, isFinished in
                    if isFinished { gallery.take(picture, error, for: file, reader) }
                }
            }
            let options = ImageDownloadOptions(priority: .low)
            prefetches.append(downloader.download(url, options) { _, _, _, _ in gallery.takeUnwanted() }!)
        }
        prefetches.forEach { $0.cancel() }
        downloader.isSuspended = false
        downloader.waitUntilIdle()
        // endregion
        try input.cancellation.check()

        let urls = input.pictures.prefix(6).map { server.url(of: $0) }
        let stack = startOrder(of: urls, .lastInFirstOut, [.normal])
        let priorities = startOrder(of: urls, .firstInFirstOut, [.low, .normal, .high])
        return gallery.result([
            "\(downloader.startedCount) downloads", "\(downloader.runningCount) left running",
            "last in first out \(stack)", "by priority \(priorities)", withoutNetwork(),
            partialPictures(urls.first),
        ])
    }

    /// Uses another operation class, and asks without a URL.
    private static func withoutNetwork() -> String {
        let downloader = ImageDownloader(width: 1)
        downloader.operationClass = PathOperation.self
        let journal = Journal()
        for url in [URL(string: "path:/picture"), nil] {
            downloader.download(url) { _, data, error, _ in
                if let data { journal.write("\(data.count) bytes of a path") }
                if let error { journal.write("no URL: \((error as? URLError)?.code == .badURL)") }
            }
            downloader.waitUntilIdle()
        }
        return journal.result.text
    }

    /// Shows a picture while it arrives. Only the last call is finished, and has data.
    private static func partialPictures(_ url: URL?) -> String {
        let (downloader, sizes, ends) = (ImageDownloader(width: 1), SharedCount(), Journal())
        downloader.download(url, ImageDownloadOptions(isProgressive: true)) { picture, data, error, isFinished in
            if isFinished { return ends.write(data == nil ? "failed" : "complete") }
            sizes.add(picture!.size - sizes.total)  // the picture of the bytes so far
        }
        downloader.waitUntilIdle()
        return "partial pictures \(sizes.total == sizes.most ? "grow" : "shrink"), then \(ends.result.text)"
    }

    // region: image-downloader-class
    /// Takes the place of the network, by `downloader.operationClass = PathOperation.self`.
    private final class PathOperation: ImageDownloadOperation, @unchecked Sendable {
        override func start() { end(.success(Data(request.url!.path.utf8))) }
    }
    // endregion

    /// The places of the URLs in the order in which their downloads start, one at a time.
    private static func startOrder(
        of urls: [URL], _ order: ImageDownloader.Order, _ priorities: [Operation.QueuePriority]
    ) -> [Int] {
        let downloader = ImageDownloader(width: 1, order: order)
        downloader.isSuspended = true
        for (number, url) in urls.enumerated() {
            let options = ImageDownloadOptions(priority: priorities[number % priorities.count])
            downloader.download(url, options) { _, _, _, _ in }
        }
        downloader.isSuspended = false
        downloader.waitUntilIdle()
        return downloader.started.map { urls.firstIndex(of: $0)! }
    }
}

/// The options of a download. The first request decides.
struct ImageDownloadOptions {
    var priority = Operation.QueuePriority.normal
    var timeout: TimeInterval = 600
    var ignoresCache = false
    /// Whether there are pictures of the bytes so far.
    var isProgressive = false

    func request(for url: URL) -> URLRequest {
        URLRequest(
            url: url, cachePolicy: ignoresCache ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy,
            timeoutInterval: timeout)
    }
}

/// Downloads pictures, each once, however many ask for it at the same time.
final class ImageDownloader: @unchecked Sendable {
    enum Order { case firstInFirstOut, lastInFirstOut }

    typealias Progress = (_ received: Int, _ expected: Int) -> Void
    /// Called with each partial picture, without data and unfinished, and once at the end.
    typealias Completion = (_ picture: Picture?, _ data: Data?, _ error: Error?, _ isFinished: Bool) -> Void

    private struct Requester {
        let id: UUID
        let progress: Progress
        let completion: Completion
    }

    private struct Entry {
        let operation: ImageDownloadOperation
        var requesters: [Requester] = []
    }

    /// The type of new downloads.
    var operationClass = ImageDownloadOperation.self

    private let session = ImageDownloadSession()
    private let downloads = OperationQueue()
    private let responses = DispatchQueue(label: "responses")
    private let order: Order

    /// Guards the following members: they are read in `sync`, and changed in a barrier.
    private let table = DispatchQueue(label: "table", attributes: .concurrent)
    private var entries: [URL: Entry] = [:]
    private var startedURLs: [URL] = []
    private weak var newest: Operation?

    init(width: Int, order: Order = .firstInFirstOut) {
        self.order = order
        downloads.name = "downloads"
        downloads.maxConcurrentOperationCount = width
    }

    deinit { session.invalidate() }

    var isSuspended: Bool {
        get { downloads.isSuspended }
        set {
            table.sync {}  // after the cancellations that are on their way
            downloads.isSuspended = newValue
        }
    }

    var runningCount: Int { table.sync { entries.count } + session.runningCount }

    var started: [URL] { table.sync { startedURLs } }

    var startedCount: Int { started.count }

    /// Completes at once, and returns nil, if there is no URL.
    @discardableResult
    func download(
        _ url: URL?, _ options: ImageDownloadOptions = .init(), progress: @escaping Progress = { _, _ in },
        completion: @escaping Completion
    ) -> ImageDownloadToken? {
        guard let url else {
            completion(nil, nil, URLError(.badURL), true)
            return nil
        }
        let requester = Requester(id: UUID(), progress: progress, completion: completion)
        table.sync(flags: .barrier) {
            if entries[url] == nil { entries[url] = Entry(operation: begin(url, options)) }
            entries[url]!.requesters.append(requester)
        }
        return ImageDownloadToken { [weak self] in self?.leave(url, requester.id) }
    }

    func cancelAll() {
        downloads.cancelAllOperations()
    }

    func waitUntilIdle() {
        downloads.waitUntilAllOperationsAreFinished()
        responses.sync {}
    }

    private func begin(_ url: URL, _ options: ImageDownloadOptions) -> ImageDownloadOperation {
        let operation = operationClass.init(options.request(for: url), in: session)
        operation.queuePriority = options.priority
        operation.onStart = { self.table.async(flags: .barrier) { self.startedURLs.append(url) } }
        operation.onProgress = { [weak operation] received, expected in
            self.requesters(of: url, operation).forEach { $0.progress(received, expected) }
        }
        operation.isProgressive = options.isProgressive
        operation.onPartialData = { [weak operation] data in
            let requesters = self.requesters(of: url, operation)
            self.responses.async {
                let picture = Picture(decoding: data)
                requesters.forEach { $0.completion(picture, nil, nil, false) }
            }
        }
        operation.onEnd = { [weak operation] result in
            let requesters = self.remove(url, operation)
            self.responses.async {
                switch result {
                case .success(let data):
                    let picture = Picture(decoding: data)
                    requesters.forEach { $0.completion(picture, data, nil, true) }
                case .failure(let error): requesters.forEach { $0.completion(nil, nil, error, true) }
                }
            }
        }
        if order == .lastInFirstOut {
            newest?.addDependency(operation)
            newest = operation
        }
        downloads.addOperation(operation)
        return operation
    }

    private func requesters(of url: URL, _ operation: Operation?) -> [Requester] {
        table.sync { entries[url]?.operation === operation ? entries[url]!.requesters : [] }
    }

    private func remove(_ url: URL, _ operation: Operation?) -> [Requester] {
        table.sync(flags: .barrier) {
            entries[url]?.operation === operation ? entries.removeValue(forKey: url)!.requesters : []
        }
    }

    /// The last one to leave cancels the download. The caller does not wait for that.
    private func leave(_ url: URL, _ id: UUID) {
        table.async(flags: .barrier) {
            guard let index = self.entries[url]?.requesters.firstIndex(where: { $0.id == id }) else { return }
            self.entries[url]!.requesters.remove(at: index)
            if self.entries[url]!.requesters.isEmpty { self.entries.removeValue(forKey: url)!.operation.cancel() }
        }
    }
}

/// A request, to cancel with. Other requests of the same picture still get it.
final class ImageDownloadToken {
    private let leave: () -> Void

    init(_ leave: @escaping () -> Void) {
        self.leave = leave
    }

    func cancel() {
        leave()
    }
}
