import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

/// A web whose first page has links to all others, which have links back to it.
private final class TestWeb: Sendable {
    let start = URL(string: "http://host0/0")!
    let all = ConcurrencyMeter()
    let ofHost: [String: ConcurrencyMeter]
    let urls: [URL]
    let visited = Recorder<URL>()

    init(hosts: Int, pages: Int) {
        ofHost = Dictionary(uniqueKeysWithValues: (0..<hosts).map { ("host\($0)", ConcurrencyMeter()) })
        urls = (0..<pages).flatMap { page in (0..<hosts).map { URL(string: "http://host\($0)/\(page)")! } }
    }

    /// Visits a page, and calls `pause` before it returns any other page than the first one.
    func load(_ url: URL, pause: () async -> Void) async -> WebPage {
        visited.record(url)
        if url == start { return WebPage(links: urls) }
        return await all.measure {
            await ofHost[url.host!]!.measure {
                await pause()
                return WebPage(links: [start])
            }
        }
    }

    /// Visits a page like `load(_:pause:)`, in code that blocks its thread.
    func loadBlocking(_ url: URL, pause: () -> Void) -> WebPage {
        visited.record(url)
        if url == start { return WebPage(links: urls) }
        let meters = [all, ofHost[url.host!]!]
        for meter in meters { meter.enter() }
        defer { for meter in meters { meter.leave() } }
        pause()
        return WebPage(links: [start])
    }

    var visitsOfHosts: [Int] {
        ofHost.keys.sorted().map { host in visited.events.count { $0.host == host } }
    }

    func expectVisits(atOnce count: Int) {
        #expect(visited.events.count == urls.count && Set(visited.events).count == urls.count)
        #expect(all.most == count)
        #expect(ofHost.values.allSatisfy { $0.most <= 2 })
    }
}

@Suite("The crawler, on both sides", .inTurns, .endsInTime)
struct CrawlerTests {
    @Test("The port visits each page once, 16 at once in all, and 2 at once of each host", .schedules(20))
    func portedLimits() async throws {
        let web = TestWeb(hosts: 12, pages: 6)
        let gate = Gate()
        let opener = Task {
            await gate.waitForArrivals(16)
            gate.open()
        }
        let crawler = MigrationExamplesPorted.Crawler(hosts: AsyncSemaphore(capacity: 16, perKey: 2)) { url in
            await web.load(url) { await gate.pass() }
        }
        #expect(try await crawler.crawl(from: web.start).count == web.urls.count)
        await opener.value
        web.expectVisits(atOnce: 16)
        #expect(web.ofHost.values.contains { $0.most == 2 })
    }

    @Test("The port visits a host at its rate, and delays no other host", .schedules(20))
    func portedRate() async throws {
        let clock = ManualClock()
        let web = TestWeb(hosts: 2, pages: 4)
        let hosts = AsyncSemaphore(capacity: 16, perKey: 2, ratePerKey: .perSecond(20), clock: clock)
        let crawler = MigrationExamplesPorted.Crawler(hosts: hosts) { url in await web.load(url) {} }
        async let pages = crawler.crawl(from: web.start)
        for count in 1...4 {
            for _ in 0..<200 { await Task.yield() }
            #expect(web.visitsOfHosts == [count, count])
            clock.advance(by: .milliseconds(49))
            for _ in 0..<200 { await Task.yield() }
            #expect(web.visitsOfHosts == [count, count])
            clock.advance(by: .milliseconds(1))
        }
        #expect(try await pages.count == 8)
    }

    @Test(
        "With one place, the old code visits each page once, and one at once in all",
        .prompt)
    func legacyLimits() {
        let (web, arrived, gate) = (
            TestWeb(hosts: 4, pages: 3), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let crawler = MigrationExamplesLegacy.Crawler(places: 1) { url in
            web.loadBlocking(url) {
                arrived.signal()
                gate.wait()
            }
        }
        Thread.detachNewThread {
            arrived.wait()
            // Without places, a second page arrives at once.
            _ = arrived.wait(timeout: .now() + .milliseconds(300))
            for _ in web.urls { gate.signal() }
        }
        #expect(crawler.crawl(from: web.start).count == web.urls.count)
        web.expectVisits(atOnce: 1)
    }
}
