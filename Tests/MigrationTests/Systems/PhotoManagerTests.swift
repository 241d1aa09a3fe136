import Foundation
import MigrationExamplesSupport
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

@Suite("The photo manager, on both sides", .inTurns, .endsInTime)
struct PhotoManagerTests {
    private let temporary: TemporaryFolder
    private let server: FileServer
    private let urls: [URL]

    init() throws {
        temporary = try TemporaryFolder()
        for number in 0..<6 { try temporary.write("photo \(number)", to: "file \(number)") }
        let files = try InputFolder(listing: temporary.path).files
        let server = try FileServer(serving: files)
        self.server = server
        urls = files.map { server.url(of: $0) }
    }

    /// The contents of the album when the batch was completed, and the error.
    private struct Completion: Sendable {
        let count: Int
        let error: (any Error)?
    }

    private func completeLegacy(
        _ urls: [URL], by way: MigrationExamplesLegacy.PhotoManager.Way
    ) async -> Completion {
        let album = MigrationExamplesLegacy.PhotoAlbum()
        return await withCheckedContinuation { continuation in
            MigrationExamplesLegacy.PhotoManager.shared.download(urls, into: album, by: way) { error in
                continuation.resume(returning: Completion(count: album.photos.pictures.count, error: error))
            }
        }
    }

    private func completePorted(
        _ urls: [URL], by way: MigrationExamplesPorted.PhotoManager.Way
    ) async throws -> Completion {
        let album = MigrationExamplesPorted.PhotoAlbum()
        let error = try await MigrationExamplesPorted.PhotoManager.shared.download(urls, into: album, by: way)
        return Completion(count: await album.photos.pictures.count, error: error)
    }

    /// Returns the completion of each side for each way of downloading.
    private func completions(_ urls: [URL]) async throws -> [Completion] {
        var completions: [Completion] = []
        for way in MigrationExamplesLegacy.PhotoManager.Way.allCases {
            completions.append(await completeLegacy(urls, by: way))
        }
        for way in MigrationExamplesPorted.PhotoManager.Way.allCases {
            completions.append(try await completePorted(urls, by: way))
        }
        return completions
    }

    @Test("A batch completes after the last photo, in each way")
    func all() async throws {
        for completion in try await completions(urls) {
            #expect(completion.count == urls.count)
            #expect(completion.error == nil)
        }
    }

    @Test("An empty batch completes too")
    func empty() async throws {
        for completion in try await completions([]) {
            #expect(completion.count == 0)
            #expect(completion.error == nil)
        }
    }

    @Test("A batch completes with the error of the photo that did not come, and with all the others")
    func oneFails() async throws {
        let batch = urls.prefix(3) + [server.url(path: "/missing")] + urls.suffix(3)
        for completion in try await completions(Array(batch)) {
            #expect(completion.count == urls.count)
            #expect((completion.error as? DownloadFailure)?.status == 404)
        }
    }

    @Test("While a photo is on its way, no batch completes")
    func notBefore() async throws {
        server.isPaused = true
        let completed = Recorder<Int>()
        await withTaskGroup { group in
            for way in MigrationExamplesLegacy.PhotoManager.Way.allCases {
                group.addTask { completed.record(await completeLegacy(urls, by: way).count) }
            }
            for way in MigrationExamplesPorted.PhotoManager.Way.allCases {
                group.addTask { completed.record((try? await completePorted(urls, by: way).count) ?? 0) }
            }
            #expect(await eventually { server.requests.count >= 4 })
            #expect(completed.events.isEmpty)
            server.isPaused = false
        }
        #expect(completed.events == Array(repeating: urls.count, count: 8))
    }

    @Test("A loop that does not wait completes before its photos; in a scope it cannot")
    func premature() async throws {
        server.isPaused = true
        let photos = urls.map { MigrationExamplesLegacy.Photo($0) }
        await withCheckedContinuation { continuation in
            MigrationExamplesLegacy.PhotoManager.shared.downloadCarelessly(photos) { _ in continuation.resume() }
        }
        #expect(photos.pictures.isEmpty)

        let completed = Recorder<Int>()
        try await withThrowingTaskGroup { group in
            group.addTask { completed.record(try await completePorted(urls, by: .loop).count) }
            #expect(await eventually { server.requests.count >= 4 })
            #expect(completed.events.isEmpty)
            server.isPaused = false
            try await group.waitForAll()
        }
        #expect(completed.events == [urls.count])
        #expect(await eventually { photos.pictures.count == urls.count })
    }

    @Test(
        "Cancelled in the middle of twelve downloads, each way ends the others, keeps the finished photos, leaves none downloading, and throws",
        arguments: MigrationExamplesPorted.PhotoManager.Way.allCases)
    func cancelled(way: MigrationExamplesPorted.PhotoManager.Way) async throws {
        let slow = try FileServer(serving: InputFolder(listing: temporary.path).files)
        slow.isPaused = true
        let slowURLs = (0..<8).map { slow.url(path: "/file%20\($0 % 6)") }
        let album = MigrationExamplesPorted.PhotoAlbum()
        let batch = Task { [urls] in
            try await MigrationExamplesPorted.PhotoManager.shared.download(
                urls.prefix(4) + slowURLs, into: album, by: way)
        }
        #expect(await eventually { await album.photos.pictures.count == 4 })
        #expect(await eventually { slow.requests.count >= 4 })
        batch.cancel()
        await #expect(throws: CancellationError.self) { try await batch.value }
        let states = await album.photos.map { photo in
            switch photo.state {
            case .downloading: "downloading"
            case .ready: "ready"
            case .failed: "failed"
            }
        }
        #expect(states == Array(repeating: "ready", count: 4) + Array(repeating: "failed", count: 8))
        #expect(await eventually { slow.departures == slow.requests.count })
    }

    @Test("Photos are in the album before their bytes, and are told of one by one")
    func additions() async throws {
        let (album, counts) = (MigrationExamplesPorted.PhotoAlbum(), Recorder<Int>())
        for url in urls { _ = await album.add(url) }
        for await count in album.additions {
            counts.record(count)
            if count == urls.count { break }
        }
        #expect(counts.events == Array(1...urls.count))
        #expect(await album.photos.pictures.isEmpty)
        #expect(await album.photos.thumbnails.isEmpty)
    }
}
