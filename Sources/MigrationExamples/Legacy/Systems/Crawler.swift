import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Visits all pages of a small web with four hosts.
    public static func crawler(_ input: RecipeInput) throws -> RecipeResult {
        let web = SmallWeb(input.sample)
        let crawler = Crawler(load: web.load)
        input.cancellation.onCancel { crawler.cancel() }
        let pages = web.start.map(crawler.crawl) ?? [:]
        try input.cancellation.check()
        return web.report(pages)
    }
}

// region: crawler
/// Visits each page once: at most 16 pages at a time, 2 of one host, and 20 a second of one host.
final class Crawler: @unchecked Sendable {
    private let load: (URL) throws -> WebPage
    private let lock = NSLock()
    private let places: DispatchSemaphore
    private let visits = DispatchGroup()
    private var queues: [String: OperationQueue] = [:]  // for each host ever met
    private var turns: [String: Date] = [:]
    private var seen: Set<URL> = []
    private var results: [URL: Result<WebPage, Error>] = [:]
    private var isCancelled = false

    init(places count: Int = 16, load: @escaping (URL) throws -> WebPage) {
        places = DispatchSemaphore(value: count)
        self.load = load
    }

    func crawl(from start: URL) -> [URL: Result<WebPage, Error>] {
        visit(start)
        visits.wait()
        return lock.withLock { results }
    }

    func cancel() {
        lock.withLock { isCancelled = true }
    }

    private func visit(_ url: URL) {
        let host = url.host ?? ""
        guard let queue = lock.withLock({ queue(for: url, of: host) }) else { return }
        visits.enter()
        queue.addOperation { [self] in
            defer { visits.leave() }
            if lock.withLock({ isCancelled }) { return }
            waitForTurn(of: host)
            places.wait()  // holds a thread, and one of the two places of the host
            let result = Result { try load(url) }
            places.signal()
            lock.withLock { results[url] = result }
            for link in (try? result.get().links) ?? [] { visit(link) }
        }
    }

    /// The queue of the host; nil if the page has been seen.
    private func queue(for url: URL, of host: String) -> OperationQueue? {
        guard !isCancelled, seen.insert(url).inserted else { return nil }
        let queue = queues[host] ?? OperationQueue()
        queue.maxConcurrentOperationCount = 2
        queues[host] = queue
        return queue
    }

    private func waitForTurn(of host: String) {
        let turn = lock.withLock {
            let turn = max(turns[host] ?? .distantPast, Date())
            turns[host] = turn + 0.05
            return turn
        }
        Thread.sleep(until: turn)  // cancelling does not end it
    }
}
// endregion
