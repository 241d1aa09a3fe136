import Foundation
import MigrationExamplesSupport
import TaskOperations

extension PhotoManager {
    enum Way: CaseIterable { case loop, groupWaited, groupNotified, applied }

    /// Downloads photos. Returns after the last one, with the first error.
    func download(_ urls: [URL], into album: PhotoAlbum, by way: Way) async throws -> (any Error)? {
        switch way {
        case .loop: await downloadByLoop(urls, into: album)
        case .groupWaited: await downloadAndWait(urls, into: album)
        case .groupNotified: try await downloadAndNotify(urls, into: album) { $0 }.value
        case .applied: await downloadByApply(urls, into: album)
        }
    }

    /// The loop over the operations ends with the last of them.
    private func downloadByLoop(_ urls: [URL], into album: PhotoAlbum) async -> (any Error)? {
        await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            let downloads = urls.map { url in queue.addOperation { await album.add(try await self.download(url)) } }
            var firstError: (any Error)?
            for download in downloads {
                if case .failure(let error) = await download.result { firstError = firstError ?? error }
            }
            return firstError
        }
    }

    /// The group is waited for, and no thread waits.
    private func downloadAndWait(_ urls: [URL], into album: PhotoAlbum) async -> (any Error)? {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let group = AsyncGroup()
        let downloads = urls.map { url in queue.addOperation { await album.add(try await self.download(url)) } }
        for download in downloads { group.enter(for: download) }
        await group.wait()
        return downloads.lazy.compactMap(\.failure).first
    }

    // region: photo-manager-batches
    /// What is to be notified is an operation that depends on all, whatever becomes of them. It runs on the main
    /// actor, and can be awaited, cancelled and depended on like any other.
    private func downloadAndNotify<Value: Sendable>(
        _ urls: [URL], into album: PhotoAlbum, notify: @escaping @MainActor @Sendable ((any Error)?) -> Value
    ) -> TaskOperation<Value> {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let downloads = urls.map { url in queue.addOperation { await album.add(try await self.download(url)) } }
        return queue.addOperation(dependencies: downloads) { @MainActor in
            notify(downloads.lazy.compactMap(\.failure).first)
        }
    }
    // endregion

    /// As many tasks as the width says take one URL after the other.
    private func downloadByApply(_ urls: [URL], into album: PhotoAlbum) async -> (any Error)? {
        let errors = FirstError()
        await concurrentPerform(over: urls, width: 4) { url in
            do {
                await album.add(try await self.download(url))
            } catch {
                await errors.note(error)
            }
        }
        return await errors.first
    }
}

/// Keeps the first error that is noted, from whatever task.
private actor FirstError {
    private(set) var first: (any Error)?

    func note(_ error: any Error) {
        first = first ?? error
    }
}
