import Foundation
import MigrationExamplesSupport
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

@Suite("The image downloader, on both sides", .inTurns, .prompt, .endsInTime)
struct ImageDownloaderTests {
    private let temporary: TemporaryFolder
    private let server: FileServer
    private let urls: [URL]

    init() throws {
        temporary = try TemporaryFolder()
        for number in 0..<8 { try temporary.write([UInt8](repeating: 7, count: 1000), to: "file \(number)") }
        let files = try InputFolder(listing: temporary.path).files
        let server = try FileServer(serving: files)
        self.server = server
        urls = files.map { server.url(of: $0) }
    }

    @Test("All requests for a picture get it, and it is downloaded once", arguments: Side.allCases)
    func shared(side: Side) async {
        let downloader = side.downloader()
        downloader.setSuspended(true)
        for number in 0..<20 { _ = await downloader.request(urls[0], as: "\(number)") }
        downloader.setSuspended(false)
        #expect(await eventually { downloader.answers.events.count == 20 })
        #expect(downloader.answers.events == (0..<20).map { Answer("\($0)", "1000 bytes") })
        #expect(server.requests.count == 1)
        #expect(await eventually { await downloader.runningCount == 0 })
    }

    @Test("A started download continues while there is a request for it", arguments: Side.allCases)
    func oneLeaves(side: Side) async {
        let downloader = side.downloader()
        server.isPaused = true
        let first = await downloader.request(urls[0], as: "first")
        let second = await downloader.request(urls[0], as: "second")
        #expect(await eventually { server.requests.count == 1 })
        first?.cancel()
        _ = await downloader.request(urls[0], as: "third")
        second?.cancel()
        server.isPaused = false
        #expect(await eventually { !downloader.answers.events.isEmpty })
        #expect(downloader.answers.events == [Answer("third", "1000 bytes")])
        #expect(server.requests.count == 1)
        #expect(server.departures == 0)
        #expect(await eventually { await downloader.runningCount == 0 })
    }

    @Test("The last one to leave ends the download on its way", arguments: Side.allCases)
    func allLeave(side: Side) async throws {
        let downloader = side.downloader()
        server.isPaused = true
        var requests: [any CancellableRequest] = []
        for number in 0..<3 { requests.append(try #require(await downloader.request(urls[0], as: "\(number)"))) }
        #expect(await eventually { server.requests.count == 1 })
        for request in requests { request.cancel() }
        #expect(await eventually { server.departures == 1 })
        #expect(await eventually { await downloader.runningCount == 0 })
        #expect(downloader.answers.events.isEmpty)
    }

    @Test("Cancelling twice does not cancel another request", arguments: Side.allCases)
    func cancelTwice(side: Side) async {
        let downloader = side.downloader()
        downloader.setSuspended(true)
        let first = await downloader.request(urls[0], as: "first")
        _ = await downloader.request(urls[0], as: "second")
        first?.cancel()
        first?.cancel()
        downloader.setSuspended(false)
        #expect(await eventually { downloader.answers.events == [Answer("second", "1000 bytes")] })
        first?.cancel()
        #expect(await eventually { await downloader.runningCount == 0 })
    }

    @Test("A picture without requests at its turn is not downloaded", arguments: Side.allCases)
    func cancelledBefore(side: Side) async {
        let downloader = side.downloader()
        downloader.setSuspended(true)
        let request = await downloader.request(urls[0], as: "unwanted")
        _ = await downloader.request(urls[1], as: "wanted")
        request?.cancel()
        downloader.setSuspended(false)
        #expect(await eventually { downloader.answers.events == [Answer("wanted", "1000 bytes")] })
        #expect(server.requests == ["file 1"])
        #expect(await eventually { await downloader.runningCount == 0 })
    }

    @Test("A cancelled picture can be requested again", arguments: Side.allCases)
    func again(side: Side) async {
        let downloader = side.downloader()
        server.isPaused = true
        let request = await downloader.request(urls[0], as: "first")
        #expect(await eventually { server.requests.count == 1 })
        request?.cancel()
        #expect(await eventually { await downloader.runningCount == 0 })
        _ = await downloader.request(urls[0], as: "second")
        server.isPaused = false
        #expect(await eventually { downloader.answers.events == [Answer("second", "1000 bytes")] })
        #expect(server.requests.count == 2)
    }

    @Test("No more is downloaded at once than the width", arguments: Side.allCases)
    func width(side: Side) async {
        let downloader = side.downloader(width: 3)
        server.isPaused = true
        for (number, url) in urls.enumerated() { _ = await downloader.request(url, as: "\(number)") }
        #expect(await eventually { server.requests.count == 3 })
        for _ in 0..<100 { await Task.yield() }
        #expect(server.requests.count == 3)
        server.isPaused = false
        #expect(await eventually { downloader.answers.events.count == urls.count })
        #expect(server.requests.count == urls.count)
    }

    @Test("All are told why a download failed", arguments: Side.allCases)
    func failure(side: Side) async {
        let downloader = side.downloader()
        let missing = server.url(path: "/missing")
        downloader.setSuspended(true)
        for name in ["first", "second"] { _ = await downloader.request(missing, as: name) }
        downloader.setSuspended(false)
        #expect(await eventually { downloader.answers.events.count == 2 })
        let outcome = "no such file (404)"
        #expect(Set(downloader.answers.events) == [Answer("first", outcome), Answer("second", outcome)])
        #expect(await eventually { await downloader.runningCount == 0 })
    }

    @Test("Without a URL a request fails at once, also while the downloader is suspended", arguments: Side.allCases)
    func missingURL(side: Side) async {
        let downloader = side.downloader()
        downloader.setSuspended(true)
        #expect(await downloader.request(nil, as: "nowhere") == nil)
        #expect(downloader.answers.events == [Answer("nowhere", "URL error \(URLError.badURL.rawValue)")])
        #expect(await downloader.runningCount == 0)
    }

    @Test("A progressive request gets partial pictures that grow, then the whole picture with its bytes, finished")
    func partialPictures() async throws {
        try temporary.write([UInt8](repeating: 7, count: 1_000_000), to: "large")
        let files = try InputFolder(listing: temporary.path).files
        let server = try FileServer(serving: files, upTo: 1_000_000)
        let url = server.url(path: "/large")

        let legacy = MigrationExamplesLegacy.ImageDownloader(width: 1)
        let (sizes, ends) = (Recorder<Int>(), Recorder<Int>())
        await withCheckedContinuation { continuation in
            legacy.download(url, ImageDownloadOptions(isProgressive: true)) { picture, data, _, isFinished in
                if isFinished {
                    ends.record(data?.count ?? 0)
                    continuation.resume()
                } else {
                    #expect(data == nil)
                    sizes.record(picture!.size)
                }
            }
        }
        #expect(sizes.events.sorted() == sizes.events && sizes.events.first! < 1_000_000)
        #expect(ends.events == [1_000_000])

        let ported = MigrationExamplesPorted.ImageDownloader(width: 1)
        // On a busy machine, a picture can be complete before the test takes the first partial picture.
        let isPartial = try await hasSucceeded(attempts: 50) {
            ported.isSuspended = true
            let options = ImageOptions(ignoresCache: true, isProgressive: true)
            let request = try ported.request(url, options) { $0 }
            ported.isSuspended = false
            var partial: [Int] = []
            for await picture in request.partialPictures { partial.append(picture.size) }
            #expect(partial.sorted() == partial)
            let image = try await request.result.get()
            #expect(image.data.count == 1_000_000 && image.picture.size == 1_000_000)
            return partial.contains { $0 < 1_000_000 }
        }
        #expect(isPartial)
    }

    private func hasSucceeded(attempts: Int, _ attempt: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<attempts where try await attempt() { return true }
        return false
    }

    @Test("A picture is decoded once for all requests, and no more at once than the width")
    func decodedOnce() async throws {
        let (decoded, meter) = (Recorder<Int>(), WorkMeter())
        let downloader = MigrationExamplesPorted.ImageDownloader(
            width: 2,
            decode: { data in
                meter.measure {
                    decoded.record(data.count)
                    return Picture(decoding: data)
                }
            })
        downloader.isSuspended = true
        let pictures = urls.map { url in Task { try await downloader.image(at: url) } }
        #expect(await eventually { downloader.runningCount == urls.count })
        let others = try (urls + urls).map { url in try downloader.request(url) { _ in } }
        downloader.isSuspended = false
        for picture in pictures { #expect(try await picture.value.size == 1000) }
        for other in others { try await other.result.get() }
        #expect(decoded.events == Array(repeating: 1000, count: urls.count))
        #expect(meter.most <= 2)
    }

    @Test("A request with other options has a download of its own")
    func options() async throws {
        let downloader = MigrationExamplesPorted.ImageDownloader(width: 2)
        downloader.isSuspended = true
        for options in [ImageOptions(), ImageOptions(priority: .high), ImageOptions(ignoresCache: true)] {
            try downloader.request(urls[0], options) { _ in }
        }
        #expect(downloader.runningCount == 2)
        downloader.isSuspended = false
        try await downloader.waitUntilIdle()
        #expect(server.requests.count == 2)
    }

    @Test("In a storm of requests and cancellations each is answered or cancelled, and nothing is left")
    func storm() async {
        for side in Side.allCases {
            let downloader = side.downloader(width: 4)
            let answered = server.requests.count - server.departures
            server.isPaused = true
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { [urls] in
                        let request = await downloader.request(urls[number % urls.count], as: "\(number)")
                        if number % 3 == 0 { request?.cancel() }
                    }
                }
            }
            // The count waits for the cancellations of the old downloader. The server then loses the cancelled clients.
            _ = await downloader.runningCount
            #expect(await eventually { server.requests.count - server.departures - answered == 4 })
            server.isPaused = false
            #expect(await eventually { await downloader.runningCount == 0 })
            let kept = Set((0..<200).filter { $0 % 3 != 0 }.map { Answer("\($0)", "1000 bytes") })
            #expect(await eventually { kept.isSubset(of: downloader.answers.events) })
            #expect(Set(downloader.answers.events).count == downloader.answers.events.count)
        }
    }
}
