import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension PhotoManager {
    enum Way: CaseIterable { case loop, groupWaited, groupNotified, applied }

    /// Adds photos to an album and downloads them. Returns the first error after the last download has ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, after all downloads have ended. Photos without a picture
    ///   have failed then.
    func download(_ urls: [URL], into album: PhotoAlbum, by way: Way) async throws -> (any Error)? {
        var photos: [Photo] = []
        for url in urls { photos.append(await album.add(url)) }
        do {
            let error =
                switch way {
                case .loop: try await downloadByLoop(photos, into: album)
                case .groupWaited: await downloadAndWait(photos, into: album)
                case .groupNotified: try await downloadAndNotify(photos, into: album)
                case .applied: await downloadByApply(photos, into: album)
                }
            try Task.checkCancellation()
            return error
        } catch {
            await album.fail(photos, with: error)  // the photos whose download never began
            throw error
        }
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
    private func downloadByLoop(_ photos: [Photo], into album: PhotoAlbum) async throws -> (any Error)? {
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            for photo in photos { queue.addOperation { await self.download(photo, into: album) } }
        }
        return await album.firstError(of: photos)
    }
    // endregion

    /// The group waits for its tasks without blocking a thread.
    private func downloadAndWait(_ photos: [Photo], into album: PhotoAlbum) async -> (any Error)? {
        await withDiscardingTaskGroup { group in
            for photo in photos { group.addTask { await self.download(photo, into: album) } }
        }
        return await album.firstError(of: photos)
    }

    // region: photo-manager-batches
    /// The notification is an operation that depends on all downloads. It runs on the main actor.
    private func downloadAndNotify(_ photos: [Photo], into album: PhotoAlbum) async throws -> (any Error)? {
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            let downloads = photos.map { photo in
                queue.addOperation { await self.download(photo, into: album) }
            }
            let notification = queue.addOperation(dependencies: downloads) { @MainActor in
                await album.firstError(of: photos)
            }
            return try await notification.value
        }
    }
    // endregion

    /// Each of four tasks downloads one photo after another. The call returns after the last download.
    private func downloadByApply(_ photos: [Photo], into album: PhotoAlbum) async -> (any Error)? {
        await concurrentPerform(over: photos, width: 4) { await self.download($0, into: album) }
        return await album.firstError(of: photos)
    }
}
