import Foundation
import TaskOperations
import TaskOperationsExtras

struct Page: Sendable {
    let url: URL
    let links: [URL]
}

struct Crawl: Sendable {
    var pages: [URL: Page] = [:]
    /// The errors by the text of the URL.
    var failures: [String: any Error] = [:]
}

/// Downloads each page that is reachable from `start` once. A cancelled crawl returns what it has found.
func crawl(
    from start: URL, maxPageCount: Int = .max, isTransient: @escaping @Sendable (any Error) -> Bool,
    download: @escaping @Sendable (URL) async throws -> Page
) async throws -> Crawl {
    let hosts = AsyncSemaphore(capacity: 16, perKey: 2, ratePerKey: .perSecond(20), name: "hosts")
    let retry = RetryPolicy.exponential(initial: .milliseconds(100), jitter: 0.5, attempts: 4).only(for: isTransient)
    let configuration = TaskOperationQueue.Configuration(
        name: "crawler", maxConcurrentOperationCount: .max, defaults: .retry(retry))

    return try await withTaskOperationQueue(configuration, failures: .ignore) { queue in
        let downloads = TaskOperationResults<Page>(on: queue)
        var (crawl, seen) = (Crawl(), Set<URL>())

        func visit(_ url: URL) {
            guard seen.insert(url).inserted else { return }
            downloads.addOperation(name: url.absoluteString, .limit(hosts, key: url.host)) { try await download(url) }
        }

        visit(start)
        for try await (operation, result) in downloads {
            switch result {
            case .success(let page):
                crawl.pages[page.url] = page
                page.links.forEach(visit)
            case .failure(is CancellationError): break
            case .failure(let error): crawl.failures[operation.name!] = error
            }
            if crawl.pages.count == maxPageCount { break }
        }
        queue.cancelAllOperations()
        return crawl
    }
}
