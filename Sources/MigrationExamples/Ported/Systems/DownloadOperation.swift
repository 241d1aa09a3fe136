import Foundation
public import MigrationExamplesSupport
import TaskOperations

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads pictures for a delegate. Of four downloads three are cancelled, each before another of its steps.
    public static func downloadOperation(_ input: RecipeInput) async throws -> RecipeResult {
        let server = try input.server
        let session = URLSession(configuration: .patient)
        defer { session.finishTasksAndInvalidate() }
        let buffers = BufferCount()
        let gallery = PictureGallery()

        let steps: [PictureDownload.Step?] = [nil, .download, .decode, .report]
        await withTaskOperationQueue(maxConcurrentOperationCount: 3) { queue in
            for (number, file) in input.pictures.enumerated() {
                var download = PictureDownload(file, server.url(of: file), in: session, buffers)
                download.delegate = gallery
                download.willBegin = { step in
                    if step == steps[number % steps.count] { AnyTaskOperation.current?.cancel() }
                }
                queue.addOperation(name: file.name, download)
            }
        }
        try Task.checkCancellation()
        return await gallery.list.result.adding(["\(buffers.live) buffers held"])
    }
}

/// Is told of downloads that were not cancelled, on the main actor.
@MainActor
protocol PictureDownloadDelegate: AnyObject, Sendable {
    func pictureDownload(of file: InputFile, didEndWith result: Result<Picture, any Error>)
}

/// Shows what comes.
@MainActor
final class PictureGallery: PictureDownloadDelegate {
    private(set) var list = DigestList()

    func pictureDownload(of file: InputFile, didEndWith result: Result<Picture, any Error>) {
        list.add(file, result)
    }
}

/// Downloads a picture, decodes it, and hands it to its delegate.
struct PictureDownload: TaskOperationBody {
    enum Step { case download, decode, report }

    weak var delegate: (any PictureDownloadDelegate)?
    var willBegin: @Sendable (Step) -> Void = { _ in }

    private let file: InputFile
    private let url: URL
    private let session: URLSession
    private let buffers: BufferCount

    init(_ file: InputFile, _ url: URL, in session: URLSession, _ buffers: BufferCount) {
        self.file = file
        self.url = url
        self.session = session
        self.buffers = buffers
    }

    // region: download-operation
    func main() async throws {
        do {
            let picture = try await picture()
            try begin(.report)
            await delegate?.pictureDownload(of: file, didEndWith: .success(picture))
        } catch {
            try Task.checkCancellation()
            await delegate?.pictureDownload(of: file, didEndWith: .failure(error))
            throw error
        }
    }

    /// What it holds is in its variables, and gone when it returns or throws.
    private func picture() async throws -> Picture {
        try begin(.download)
        let (data, response) = try await session.data(from: url)
        let buffer = PictureBuffer(try DownloadFailure.check(data, response), buffers)
        try begin(.decode)
        return buffer.picture
    }

    private func begin(_ step: Step) throws {
        willBegin(step)
        try Task.checkCancellation()
    }
    // endregion
}
