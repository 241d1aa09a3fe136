import Foundation
public import MigrationExamplesSupport
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
        var prefetches: [ImageRequest<Void>] = []
        for file in input.pictures {
            let url = server.url(of: file)
            for reader in ["list", "page"] where file != input.pictures.last {
                let request = await downloader.request(url) { data in
                    await gallery.noteAnswer(for: file, reader)
                    return Picture(decoding: data)
                }
                requests.append((file, reader, request))
            }
            prefetches.append(await downloader.request(url, priority: .low) { _ in await gallery.takeUnwanted() })
        }
        for prefetch in prefetches { prefetch.cancel() }
        downloader.isSuspended = false

        try await withTaskCancellationHandler {
            for (file, reader, request) in requests {
                await gallery.take(request.result, steps: request.progress, for: file, reader)
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
        of urls: [URL], _ order: ImageDownloader.Order, _ priorities: [TaskPriority]
    ) async throws -> [Int] {
        let downloader = ImageDownloader(width: 1, order: order)
        downloader.isSuspended = true
        for (number, url) in urls.enumerated() {
            await downloader.request(url, priority: priorities[number % priorities.count]) { _ in }
        }
        downloader.isSuspended = false
        try await downloader.waitUntilIdle()
        return await downloader.started.map { urls.firstIndex(of: $0)! }
    }
}

/// Downloads pictures, each once, however many ask for it at the same time.
actor ImageDownloader {
    enum Order { case firstInFirstOut, lastInFirstOut }

    private struct Requester {
        let response: AnyTaskOperation
        let progress: AsyncStream<ImageProgress>.Continuation
    }

    private struct Entry {
        let download: TaskOperation<Data>
        var requesters: [UUID: Requester] = [:]

        var isWanted: Bool { requesters.values.contains { !$0.response.isCancelled } }
    }

    private let session = TransferSession()
    private let turns: TaskOperationQueue
    private let responses = TaskOperationQueue(name: "responses", maxConcurrentOperationCount: 1)
    private let departures = TaskOperationQueue(name: "departures")
    private let order: Order
    private var table: [URL: Entry] = [:]
    private var waiting: [(url: URL, priority: TaskPriority, download: TaskOperation<Data>)] = []
    private(set) var started: [URL] = []

    init(width: Int, order: Order = .firstInFirstOut) {
        self.order = order
        turns = TaskOperationQueue(name: "downloads", maxConcurrentOperationCount: width)
    }

    nonisolated var isSuspended: Bool {
        get { turns.isSuspended }
        set { turns.isSuspended = newValue }
    }

    var runningCount: Int { table.count + session.runningCount }

    /// Downloads, or joins those who wait for the download, and has the bytes handled in the order of the requests.
    @discardableResult
    func request<Value>(
        _ url: URL, priority: TaskPriority = .medium, handle: @escaping @Sendable (Data) async throws -> Value
    ) -> ImageRequest<Value> {
        let download = table[url]?.download ?? begin(url, priority)
        let id = UUID()
        let (steps, progress) = AsyncStream.makeStream(of: ImageProgress.self)
        let response = responses.addOperation(dependencies: [download]) { try await handle(download.value) }
        table[url]!.requesters[id] = Requester(response: response, progress: progress)
        // Runs whatever becomes of the response: nobody stays in the table.
        departures.addOperation(dependencies: [response]) { await self.leave(url, download, id) }
        return ImageRequest(response: response, progress: steps)
    }

    /// Nobody wants anything any more, so that the downloads end too.
    nonisolated func cancelAll() {
        responses.cancelAllOperations()
    }

    nonisolated func waitUntilIdle() async throws {
        for queue in [responses, departures, turns] { try await queue.waitUntilAllOperationsAreFinished() }
    }

    private func begin(_ url: URL, _ priority: TaskPriority) -> TaskOperation<Data> {
        let download = TaskOperation(name: url.path, priority: priority) { try await self.transfer(url) }
        table[url] = Entry(download: download)
        waiting.append((url, priority, download))
        turns.addOperation(priority: priority) { await self.takeTurn() }
        return download
    }

    /// A place in the queue became free. What it is used for is decided now, not when it was asked for.
    private func takeTurn() async {
        guard let download = takeNext() else { return }
        let end = AsyncGroup()
        end.enter(for: download)
        try? download.start()  // refused only where it was cancelled just now
        await end.wait()
    }

    private func takeNext() -> TaskOperation<Data>? {
        waiting.removeAll { next in
            if !next.download.isCancelled, !table[next.url]!.isWanted { abandon(next.url) }
            return next.download.isCancelled
        }
        guard let priority = waiting.map(\.priority).max() else { return nil }
        let candidates = waiting.indices.filter { waiting[$0].priority == priority }
        let next = waiting.remove(at: order == .firstInFirstOut ? candidates.first! : candidates.last!)
        started.append(next.url)
        return next.download
    }

    private func transfer(_ url: URL) async throws -> Data {
        var data = Data()
        var response: URLResponse?
        for try await event in session.transfer(url) {
            switch event {
            case .response(let head): response = head
            case .data(let piece): data += piece
            }
            report(ImageProgress(received: data.count, expected: Int(response?.expectedContentLength ?? -1)), of: url)
        }
        try Task.checkCancellation()
        return try DownloadFailure.check(data, response)
    }

    private func report(_ progress: ImageProgress, of url: URL) {
        // A download that was cancelled may still be on its way when the next one for its URL begins.
        guard let entry = table[url], entry.download == AnyTaskOperation.current else { return }
        for requester in entry.requesters.values { requester.progress.yield(progress) }
    }

    private func leave(_ url: URL, _ download: TaskOperation<Data>, _ id: UUID) {
        guard table[url]?.download == download else { return }  // it was abandoned
        table[url]!.requesters.removeValue(forKey: id)!.progress.finish()
        if table[url]!.requesters.isEmpty { abandon(url) }
    }

    /// Nobody wants the download any more: it is cancelled, which changes nothing where it is finished.
    private func abandon(_ url: URL) {
        let entry = table.removeValue(forKey: url)!
        for requester in entry.requesters.values { requester.progress.finish() }
        entry.download.cancel()
    }
}

/// How much of a picture has come.
struct ImageProgress: Sendable {
    let received: Int
    let expected: Int
}

/// What a requester gets, to wait and to cancel with. The others who want the same picture still get it.
struct ImageRequest<Value: Sendable>: Sendable {
    fileprivate let response: TaskOperation<Value>
    let progress: AsyncStream<ImageProgress>

    var result: Result<Value, any Error> {
        get async { await response.result }
    }

    func cancel() {
        response.cancel()
    }
}
