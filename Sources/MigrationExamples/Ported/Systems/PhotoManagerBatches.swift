import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension PhotoManager {
    enum Way: CaseIterable { case loop, groupWaited, groupNotified, applied }

    /// Adds photos to an album and downloads them. Returns the first error after the last download has ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, after all downloads have ended.
    func download(_ urls: [URL], into album: PhotoAlbum, by way: Way) async throws -> (any Error)? {
        var photos: [Photo] = []
        for url in urls { photos.append(await album.add(url)) }
        switch way {
        case .loop: try await downloadByLoop(photos, into: album)
        case .groupWaited: await downloadAndWait(photos, into: album)
        case .groupNotified: try await downloadAndNotify(photos, into: album) {}
        case .applied: await downloadByApply(photos, into: album)
        }
        try Task.checkCancellation()
        let all = await album.photos
        return photos.map { all[$0.id] }.firstError
    }

    private func download(_ photo: Photo, into album: PhotoAlbum) async {
        do {
            let picture = try await download(photo.url)
            await album.setState(.ready(picture, thumbnail: picture.thumbnail), of: photo)
        } catch {
            await album.setState(.failed(error), of: photo)
        }
    }

    // region: photo-manager-premature
    /// The loop only begins the downloads. The scope ends after the last of them.
    private func downloadByLoop(_ photos: [Photo], into album: PhotoAlbum) async throws {
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            for photo in photos { queue.addOperation { await self.download(photo, into: album) } }
        }
    }
    // endregion

    /// The group waits for its tasks without blocking a thread.
    private func downloadAndWait(_ photos: [Photo], into album: PhotoAlbum) async {
        await withDiscardingTaskGroup { group in
            for photo in photos { group.addTask { await self.download(photo, into: album) } }
        }
    }

    // region: photo-manager-batches
    /// The notification is an operation that depends on all downloads. It runs on the main actor.
    private func downloadAndNotify(
        _ photos: [Photo], into album: PhotoAlbum, notify: @escaping @MainActor @Sendable () -> Void
    ) async throws {
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            let downloads = photos.map { photo in
                queue.addOperation { await self.download(photo, into: album) }
            }
            queue.addOperation(dependencies: downloads) { @MainActor in notify() }
        }
    }
    // endregion

    /// Each of four tasks downloads one photo after another.
    private func downloadByApply(_ photos: [Photo], into album: PhotoAlbum) async {
        await concurrentPerform(over: photos, width: 4) { await self.download($0, into: album) }
    }
}
