import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Downloads each picture once for all who want it, in the orders that the downloader knows.
    public static func imageDownloader(_ input: RecipeInput) throws -> RecipeResult {
        // region: image-downloader
        let server = try input.server
        let downloader = ImageDownloader(width: 4)
        input.cancellation.onCancel { downloader.cancelAll() }
        let gallery = ImageGallery()

        // A list and a page want each picture. A prefetcher asks for all, and for the last one alone, and changes
        // its mind: the downloads go on as long as anybody else wants them.
        downloader.isSuspended = true
        var prefetches: [ImageDownloadToken] = []
        for file in input.pictures {
            let url = server.url(of: file)
            for reader in ["list", "page"] where file != input.pictures.last {
                downloader.download(url) { received, expected in
                    gallery.note(received, of: expected, for: file, reader)
                } completion: { result in
                    gallery.take(result, for: file, reader)
                }
            }
            prefetches.append(downloader.download(url, priority: .low) { _ in gallery.takeUnwanted() })
        }
        prefetches.forEach { $0.cancel() }
        downloader.isSuspended = false
        downloader.waitUntilIdle()
        try input.cancellation.check()

        let urls = input.pictures.prefix(6).map { server.url(of: $0) }
        let stack = startOrder(of: urls, .lastInFirstOut, [.normal])
        let priorities = startOrder(of: urls, .firstInFirstOut, [.low, .normal, .high])
        return gallery.result([
            "\(downloader.startedCount) downloads", "\(downloader.runningCount) left running",
            "last in first out \(stack)", "by priority \(priorities)",
        ])
        // endregion
    }

    /// The places of the URLs in the order in which their downloads start, one at a time.
    private static func startOrder(
        of urls: [URL], _ order: ImageDownloader.Order, _ priorities: [Operation.QueuePriority]
    ) -> [Int] {
        let downloader = ImageDownloader(width: 1, order: order)
        downloader.isSuspended = true
        for (number, url) in urls.enumerated() {
            downloader.download(url, priority: priorities[number % priorities.count]) { _ in }
        }
        downloader.isSuspended = false
        downloader.waitUntilIdle()
        return downloader.started.map { urls.firstIndex(of: $0)! }
    }
}

/// Downloads pictures, each once, however many ask for it at the same time.
final class ImageDownloader: @unchecked Sendable {
    enum Order { case firstInFirstOut, lastInFirstOut }

    typealias Progress = (_ received: Int, _ expected: Int) -> Void
    typealias Completion = (Result<Data, Error>) -> Void

    private struct Requester {
        let id: UUID
        let progress: Progress
        let completion: Completion
    }

    private struct Entry {
        let operation: ImageDownloadOperation
        var requesters: [Requester] = []
    }

    private let session = ImageDownloadSession()
    private let downloads = OperationQueue()
    private let responses = DispatchQueue(label: "responses")
    private let order: Order

    /// Guards what follows: it is read in `sync`, and changed in a barrier.
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
        set { downloads.isSuspended = newValue }
    }

    var runningCount: Int { table.sync { entries.count } + session.runningCount }

    var started: [URL] { table.sync { startedURLs } }

    var startedCount: Int { started.count }

    @discardableResult
    func download(
        _ url: URL, priority: Operation.QueuePriority = .normal, progress: @escaping Progress = { _, _ in },
        completion: @escaping Completion
    ) -> ImageDownloadToken {
        let requester = Requester(id: UUID(), progress: progress, completion: completion)
        table.sync(flags: .barrier) {
            if entries[url] == nil { entries[url] = Entry(operation: begin(url, priority)) }
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

    private func begin(_ url: URL, _ priority: Operation.QueuePriority) -> ImageDownloadOperation {
        let operation = ImageDownloadOperation(url, in: session)
        operation.queuePriority = priority
        operation.onStart = { self.table.async(flags: .barrier) { self.startedURLs.append(url) } }
        operation.onProgress = { [weak operation] received, expected in
            self.requesters(of: url, operation).forEach { $0.progress(received, expected) }
        }
        operation.onEnd = { [weak operation] result in
            let requesters = self.remove(url, operation)
            self.responses.async { requesters.forEach { $0.completion(result) } }
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

    /// The last one to leave cancels the download.
    private func leave(_ url: URL, _ id: UUID) {
        let abandoned: Operation? = table.sync(flags: .barrier) {
            guard let index = entries[url]?.requesters.firstIndex(where: { $0.id == id }) else { return nil }
            entries[url]!.requesters.remove(at: index)
            return entries[url]!.requesters.isEmpty ? entries.removeValue(forKey: url)!.operation : nil
        }
        abandoned?.cancel()
    }
}

/// What a requester gets, to cancel with. The others who want the same picture still get it.
final class ImageDownloadToken {
    private let leave: () -> Void

    init(_ leave: @escaping () -> Void) {
        self.leave = leave
    }

    func cancel() {
        leave()
    }
}
