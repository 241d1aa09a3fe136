import Foundation
import TaskOperations
import TaskOperationsExtras

/// Loads the images of a list. A cell keeps its request, cancels it when it leaves, and changes its priority.
struct ImageLoader<Image: Sendable>: Sendable {
    private let downloads = TaskOperationQueue(name: "downloads", maxConcurrentOperationCount: 6)
    private let images = KeyedOperations<URL, Image>(
        queue: TaskOperationQueue(name: "decoding", maxConcurrentOperationCount: 2), keeping: .values(maxCount: 100))
    private let download: @Sendable (URL) async throws -> Data
    private let decode: @Sendable (Data) async throws -> Image

    init(
        download: @escaping @Sendable (URL) async throws -> Data,
        decode: @escaping @Sendable (Data) async throws -> Image
    ) {
        self.download = download
        self.decode = decode
    }

    func request(_ url: URL, isVisible: Bool) -> KeyedRequest<Image> {
        images.request(url, priority: isVisible ? .high : .low) { [downloads, download, decode] in
            let data = downloads.addOperation(name: "download \(url)") { try await download(url) }
            return TaskOperation(name: "decode \(url)", after: data) { try await decode($0) }
        }
    }
}
