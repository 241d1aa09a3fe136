public import Foundation
import TaskOperations

/// A small web: each page is a file on one of four hosts, and has links to other pages. The web records its visits.
public final class SmallWeb: Sendable {
    private struct Visits: Sendable {
        var counts: [URL: Int] = [:]
        var begins: [String: [Duration]] = [:]
    }

    private let files: [InputFile]
    private let origin = ContinuousClock.now
    private let visits = Lock(Visits())
    private let all = WorkMeter()
    private let ofHost = (0..<4).map { _ in WorkMeter() }

    /// Creates a web of at most 24 pages.
    public init(_ files: [InputFile]) {
        self.files = Array(files.prefix(24))
    }

    /// The page from which links lead to all others; nil if there are no files.
    public var start: URL? { files.isEmpty ? nil : url(of: 0) }

    private func url(of number: Int) -> URL { URL(string: "http://host\(number % ofHost.count)/\(number)")! }

    /// Loads a page, and records the visit.
    ///
    /// - Throws: `FileProblem` if the file cannot be read.
    public func load(_ url: URL) throws -> WebPage {
        let number = Int(url.lastPathComponent)!
        visits.withLock { visits in
            visits.counts[url, default: 0] += 1
            visits.begins[url.host!, default: []].append(ContinuousClock.now - origin)
        }
        return try all.measure {
            try ofHost[number % ofHost.count].measure {
                let digest = SHA256.digest(of: try files[number].contents(upTo: 64 * 1024))
                let linked = [2 * number + 1, 2 * number + 2, (number - 1) / 2].filter { $0 < files.count }
                return WebPage(links: linked.map(url(of:)), digest: digest)
            }
        }
    }

    /// The pages that a crawler found, and the limits that it kept to.
    public func report(_ results: [URL: Result<WebPage, any Error>]) -> RecipeResult {
        var list = DigestList()
        for (url, result) in results { list.add(files[Int(url.lastPathComponent)!], result.map(\.digest)) }
        let visits = visits.withLock { $0 }
        let isWithin = all.most <= 16 && ofHost.allSatisfy { $0.most <= 2 }
        // A start can be recorded late, but never early.
        let isSlow = visits.begins.values.allSatisfy { begins in
            begins.sorted().enumerated().allSatisfy { $1 >= .milliseconds(50) * $0 - .milliseconds(1) }
        }
        return list.result.adding([
            visits.counts.values.allSatisfy { $0 == 1 } ? "each once" : "some twice",
            isWithin ? "within the limits" : "too many at once", isSlow ? "at the rate" : "too fast",
        ])
    }
}

/// A page of a web.
public struct WebPage: Sendable {
    /// The pages to which the page has links.
    public let links: [URL]
    /// Identifies the contents of the page.
    public let digest: Digest

    /// Creates a page.
    public init(links: [URL], digest: Digest = SHA256.digest(of: [])) {
        self.links = links
        self.digest = digest
    }
}
