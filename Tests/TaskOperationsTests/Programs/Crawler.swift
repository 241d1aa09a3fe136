import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Visits every page that can be reached from a start page. It makes at most eight requests at once, two per host and
/// 1,000 per second. Each request has three attempts of at most 10 s.
private struct Crawler {
    struct Page: Hashable, Sendable {
        let host: String
        let path: String
    }

    let fetch: @Sendable (Page) async throws -> [Page]

    func crawl(from start: Page) async throws -> Set<Page> {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 8, rate: .perSecond(1000, burst: 8),
                defaults: [.retry(.immediately(attempts: 3)), .timeout(perAttempt: .seconds(10))]))
        let visits = TaskOperationResults<[Page]>(on: queue)
        var seen: Set<Page> = []
        var hosts: [String: AsyncSemaphore] = [:]
        func visit(_ page: Page) {
            guard seen.insert(page).inserted else { return }
            let host = hosts[page.host] ?? AsyncSemaphore(capacity: 2, name: page.host)
            hosts[page.host] = host
            visits.addOperation(name: page.path, .limit(host)) { try await fetch(page) }
        }
        visit(start)
        for try await (_, links) in visits { try? links.get().forEach(visit) }
        return seen
    }
}

/// The same program with task groups, but without the rate and the timeout of an attempt. The two widths need two
/// semaphores that must be acquired in the same order everywhere. A page that waits for its host holds one of the eight
/// permits.
private struct PlainCrawler {
    let fetch: @Sendable (Crawler.Page) async throws -> [Crawler.Page]

    private actor Permits {
        private var free: Int
        private var waiters: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) { free = count }

        func take() async {
            if free > 0 {
                free -= 1
            } else {
                await withCheckedContinuation { waiters.append($0) }
            }
        }

        func giveBack() {
            if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
        }
    }

    func crawl(from start: Crawler.Page) async -> Set<Crawler.Page> {
        let all = Permits(8)
        var hosts: [String: Permits] = [:]
        var seen: Set = [start]
        await withTaskGroup(of: [Crawler.Page].self) { group in
            func visit(_ page: Crawler.Page) {
                let host = hosts[page.host] ?? Permits(2)
                hosts[page.host] = host
                group.addTask {
                    await all.take()
                    await host.take()
                    var links: [Crawler.Page] = []
                    for _ in 0..<3 {
                        do {
                            links = try await fetch(page)
                            break
                        } catch {
                            if Task.isCancelled { break }
                        }
                    }
                    await host.giveBack()
                    await all.giveBack()
                    return links
                }
            }
            visit(start)
            for await links in group {
                for link in links where seen.insert(link).inserted { visit(link) }
            }
        }
        return seen
    }
}

@Suite("Program: a crawler", .endsInTime)
struct CrawlerTests {
    /// A site of three hosts. Each page refers to three others, and every fifth page fails at first.
    private final class Site: Sendable {
        let attempts = Lock<[Crawler.Page: Int]>([:])
        let active = Lock<[String: (now: Int, most: Int)]>([:])

        func fetch(_ page: Crawler.Page) async throws -> [Crawler.Page] {
            let attempt = attempts.withLock { attempts in
                attempts[page, default: 0] += 1
                return attempts[page]!
            }
            count(page.host, 1)
            defer { count(page.host, -1) }
            for _ in 0..<3 { await Task.yield() }
            let number = Int(page.path)!
            if number % 5 == 0, attempt < 3 { throw WorkFailed(number: number) }
            return (1...3).map { Site.page((number * 2 + $0) % 60) }
        }

        static func page(_ number: Int) -> Crawler.Page { Crawler.Page(host: "host \(number % 3)", path: "\(number)") }

        private func count(_ host: String, _ change: Int) {
            active.withLock { active in
                var (now, most) = active[host] ?? (0, 0)
                now += change
                most = max(most, now)
                active[host] = (now, most)
            }
        }
    }

    @Test("both visit each page once, with three attempts and two requests for each host at most", .schedules(5))
    func crawl() async throws {
        let (site, plainSite) = (Site(), Site())
        let pages = try await Crawler(fetch: site.fetch).crawl(from: Site.page(1))
        let plainPages = await PlainCrawler(fetch: plainSite.fetch).crawl(from: Site.page(1))
        #expect(pages == plainPages && pages.count > 40)
        for site in [site, plainSite] {
            #expect(site.active.withLock { active in active.values.allSatisfy { $0.now == 0 && $0.most <= 2 } })
            let attempts = site.attempts.withLock { $0 }
            #expect(attempts.allSatisfy { $0.value == (Int($0.key.path)! % 5 == 0 ? 3 : 1) })
        }
    }
}
