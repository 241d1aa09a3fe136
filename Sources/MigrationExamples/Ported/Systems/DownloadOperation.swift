import Foundation
public import MigrationExamplesSupport
import TaskOperations

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads pictures. Of each four downloads, three are cancelled, each of them before a different step.
    public static func downloadOperation(_ input: RecipeInput) async throws -> RecipeResult {
        let server = try input.server
        let session = URLSession(configuration: .patient)
        defer { session.finishTasksAndInvalidate() }
        let buffers = BufferCount()
        let steps: [PictureDownload.Step?] = [nil, .download, .decode, .report]
        let list = try await withTaskOperationQueue(maxConcurrentOperationCount: 3, failures: .ignore) { queue in
            let downloads = input.pictures.enumerated().map { number, file in
                let download = PictureDownload(server.url(of: file), in: session, buffers) { step in
                    if step == steps[number % steps.count] { AnyTaskOperation.current?.cancel() }
                }
                return queue.addOperation(download, name: file.name)
            }
            var list = DigestList()
            for (file, download) in zip(input.pictures, downloads) {
                let result = await download.result
                if !download.isCancelled { list.add(file, result) }
            }
            return list
        }
        try Task.checkCancellation()
        return list.result.adding(["\(buffers.live) buffers held"])
    }
}

/// Downloads a picture and decodes it.
struct PictureDownload: TaskOperationBody {
    enum Step { case download, decode, report }

    private let url: URL
    private let session: URLSession
    private let buffers: BufferCount
    private let willBegin: @Sendable (Step) -> Void

    init(
        _ url: URL, in session: URLSession, _ buffers: BufferCount,
        willBegin: @escaping @Sendable (Step) -> Void = { _ in }
    ) {
        self.url = url
        self.session = session
        self.buffers = buffers
        self.willBegin = willBegin
    }

    // region: download-operation
    func main() async throws -> Picture {
        try begin(.download)
        let buffer = PictureBuffer(try await download(), buffers)
        try begin(.decode)
        let picture = buffer.picture
        try begin(.report)
        return picture
    }

    private func download() async throws -> Data {
        do {
            let (data, response) = try await session.transfer(url)
            return try DownloadFailure.check(data, response)
        } catch {
            try Task.checkCancellation()  // a cancelled transfer fails with an error of its own
            throw error
        }
    }

    private func begin(_ step: Step) throws {
        willBegin(step)
        try Task.checkCancellation()
    }
    // endregion
}
