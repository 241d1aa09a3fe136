import Foundation
public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Visits all pages of a small web with four hosts.
    public static func crawler(_ input: RecipeInput) async throws -> RecipeResult {
        let web = SmallWeb(input.sample)
        let pages = try await Crawler { try web.load($0) }.crawl(from: web.start)
        try Task.checkCancellation()
        return web.report(pages)
    }
}

// region: crawler
/// Visits each page once: at most 16 pages at a time, 2 of one host, and 20 a second of one host.
actor Crawler {
    typealias Load = @Sendable (URL) async throws -> WebPage

    private let load: Load
    private let hosts: AsyncSemaphore
    private var visits: [URL: TaskOperation<WebPage>] = [:]

    init(
        hosts: AsyncSemaphore = AsyncSemaphore(capacity: 16, perKey: 2, ratePerKey: .perSecond(20), name: "hosts"),
        load: @escaping Load
    ) {
        self.load = load
        self.hosts = hosts
    }

    func crawl(from start: URL?) async throws -> [URL: Result<WebPage, any Error>] {
        try await withTaskOperationQueue(maxConcurrentOperationCount: .max, failures: .ignore) { queue in
            if let start { visit(start, on: queue) }
        }
        var pages: [URL: Result<WebPage, any Error>] = [:]
        for (url, visit) in visits { pages[url] = await visit.result }
        return pages
    }

    private func visit(_ url: URL, on queue: TaskOperationQueue) {
        if visits[url] != nil { return }
        visits[url] = queue.addOperation(.limit(hosts, key: url.host)) {
            let page = try await self.load(url)
            for link in page.links { await self.visit(link, on: queue) }
            return page
        }
    }
}
// endregion
