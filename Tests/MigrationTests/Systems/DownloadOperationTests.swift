import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The download operation with a delegate, on both sides", .inTurns, .prompt, .endsInTime)
struct DownloadOperationTests {
    private let temporary: TemporaryFolder
    private let server: FileServer
    private let file: InputFile
    private let session = URLSession(configuration: .patient)
    private let buffers = BufferCount()

    init() throws {
        temporary = try TemporaryFolder()
        try temporary.write("picture", to: "file")
        file = try #require(try InputFolder(listing: temporary.path).files.first)
        server = try FileServer(serving: [file])
    }

    private func legacyOperation(
        at url: URL? = nil
    ) -> (PictureDownloadOperation, MigrationExamplesLegacy.PictureGallery) {
        let gallery = MigrationExamplesLegacy.PictureGallery()
        let operation = PictureDownloadOperation(file, url ?? server.url(of: file), in: session, buffers)
        operation.delegate = gallery
        return (operation, gallery)
    }

    private func portedOperation(at url: URL? = nil) -> TaskOperation<Picture> {
        TaskOperation(PictureDownload(url ?? server.url(of: file), in: session, buffers))
    }

    /// Returns the contents of the legacy gallery after all earlier work of the main queue.
    private func shown(_ gallery: MigrationExamplesLegacy.PictureGallery) async -> RecipeResult {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: gallery.list.result) }
        }
    }

    private func isFinished(_ operation: Foundation.Operation) async -> Bool {
        await eventually { operation.isFinished }
    }

    @Test("The delegate gets the picture, and nothing is held then")
    func picture() async throws {
        let queue = OperationQueue()
        let (legacy, legacyGallery) = legacyOperation()
        queue.addOperation(legacy)
        #expect(await isFinished(legacy))
        #expect(await shown(legacyGallery).text.hasPrefix("1 files, 7 bytes"))

        let ported = portedOperation()
        try ported.start()
        #expect(try await ported.value.size == 7)
        #expect(buffers.live == 0)
    }

    @Test("An operation that is cancelled during its download ends, releases the server, and calls no handler")
    func cancelledOnItsWay() async throws {
        server.isPaused = true
        let queue = OperationQueue()
        let (legacy, legacyGallery) = legacyOperation()
        queue.addOperation(legacy)
        #expect(await eventually { server.requests.count == 1 })
        legacy.cancel()
        #expect(await isFinished(legacy))
        #expect(await eventually { server.departures == 1 })
        #expect(await shown(legacyGallery).text.hasPrefix("0 files"))

        let ported = portedOperation()
        try ported.start()
        #expect(await eventually { server.requests.count == 2 })
        ported.cancel()
        await #expect(throws: CancellationError.self) { try await ported.value }
        #expect(await eventually { server.departures == 2 })
        #expect(buffers.live == 0)
    }

    @Test("The delegate is told of a failure")
    func failure() async throws {
        let queue = OperationQueue()
        let (legacy, legacyGallery) = legacyOperation(at: server.url(path: "/missing"))
        queue.addOperation(legacy)
        #expect(await isFinished(legacy))
        #expect(await shown(legacyGallery).unreadable.map(\.reason) == ["no such file"])

        let ported = portedOperation(at: server.url(path: "/missing"))
        try ported.start()
        let failure = await #expect(throws: DownloadFailure.self) { try await ported.value }
        #expect(failure?.reason == "no such file")
    }

    @Test("A delegate that is gone meanwhile is not kept; the port has none")
    func delegateIsGone() async throws {
        server.isPaused = true
        let queue = OperationQueue()
        var (legacy, legacyGallery): (PictureDownloadOperation, MigrationExamplesLegacy.PictureGallery?) =
            legacyOperation()
        queue.addOperation(legacy)
        weak var weakLegacy: AnyObject?
        weakLegacy = legacyGallery
        legacyGallery = nil
        #expect(weakLegacy == nil)
        server.isPaused = false
        #expect(await isFinished(legacy))
        #expect(buffers.live == 0)
    }
}
