import Foundation
import MigrationExamplesSupport

extension PhotoManager {
    enum Way: CaseIterable { case loop, groupWaited, groupNotified, applied }

    /// Adds photos to an album and downloads them. Completes on the main queue after the last one, with the first error.
    func download(
        _ urls: [URL], into album: PhotoAlbum, by way: Way, completion: @escaping (Error?) -> Void
    ) {
        let photos = urls.map(Photo.init)
        photos.forEach(album.add)
        switch way {
        case .loop: downloadByLoop(photos, completion)
        case .groupWaited: downloadAndWait(photos, completion)
        case .groupNotified: downloadAndNotify(photos, completion)
        case .applied: downloadByApply(photos, completion)
        }
    }

    // region: photo-manager-premature
    /// Completes after the last download has begun, before any has ended.
    func downloadCarelessly(_ photos: [Photo], _ completion: @escaping (Error?) -> Void) {
        for photo in photos { download(photo) {} }
        DispatchQueue.main.async { completion(photos.firstError) }
    }
    // endregion

    /// The last handler to be called completes the batch.
    private func downloadByLoop(_ photos: [Photo], _ completion: @escaping (Error?) -> Void) {
        let lock = NSLock()
        var left = photos.count
        if photos.isEmpty { DispatchQueue.main.async { completion(nil) } }
        for photo in photos {
            download(photo) {
                let isLast = lock.withLock { () -> Bool in
                    left -= 1
                    return left == 0
                }
                if isLast { DispatchQueue.main.async { completion(photos.firstError) } }
            }
        }
    }

    /// A background thread waits for all.
    private func downloadAndWait(_ photos: [Photo], _ completion: @escaping (Error?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async {
            let group = DispatchGroup()
            for photo in photos {
                group.enter()
                self.download(photo) { group.leave() }
            }
            group.wait()
            DispatchQueue.main.async { completion(photos.firstError) }
        }
    }

    // region: photo-manager-batches
    /// No thread waits.
    private func downloadAndNotify(_ photos: [Photo], _ completion: @escaping (Error?) -> Void) {
        let group = DispatchGroup()
        for photo in photos {
            group.enter()
            download(photo) { group.leave() }
        }
        group.notify(queue: .main) { completion(photos.firstError) }
    }
    // endregion

    /// As many threads as there are processors begin the downloads. The group waits for their ends.
    private func downloadByApply(_ photos: [Photo], _ completion: @escaping (Error?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async {
            let group = DispatchGroup()
            DispatchQueue.concurrentPerform(iterations: photos.count) { index in
                group.enter()
                self.download(photos[index]) { group.leave() }
            }
            group.notify(queue: .main) { completion(photos.firstError) }
        }
    }
}
