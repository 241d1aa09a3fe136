import Foundation
import MigrationExamplesSupport

extension PhotoManager {
    enum Way: CaseIterable { case loop, groupWaited, groupNotified, applied }

    /// Downloads photos, and completes on the main queue after the last one, with the first error.
    func download(
        _ urls: [URL], into album: PhotoAlbum, by way: Way, completion: @escaping (Error?) -> Void
    ) {
        switch way {
        case .loop: downloadByLoop(urls, into: album, completion)
        case .groupWaited: downloadAndWait(urls, into: album, completion)
        case .groupNotified: downloadAndNotify(urls, into: album, completion)
        case .applied: downloadByApply(urls, into: album, completion)
        }
    }

    /// The last handler to be called completes the batch.
    private func downloadByLoop(_ urls: [URL], into album: PhotoAlbum, _ completion: @escaping (Error?) -> Void) {
        let lock = NSLock()
        var left = urls.count
        var firstError: Error?
        if urls.isEmpty { DispatchQueue.main.async { completion(nil) } }
        for url in urls {
            download(url) { result in
                let error = album.take(result)
                let isLast = lock.withLock { () -> Bool in
                    firstError = firstError ?? error
                    left -= 1
                    return left == 0
                }
                if isLast { DispatchQueue.main.async { completion(firstError) } }
            }
        }
    }

    /// A background thread waits for all.
    private func downloadAndWait(_ urls: [URL], into album: PhotoAlbum, _ completion: @escaping (Error?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async {
            let group = DispatchGroup()
            let errors = FirstError()
            for url in urls {
                group.enter()
                self.download(url) { result in
                    errors.note(album.take(result))
                    group.leave()
                }
            }
            group.wait()
            DispatchQueue.main.async { completion(errors.first) }
        }
    }

    // region: photo-manager-batches
    /// Nobody waits.
    private func downloadAndNotify(_ urls: [URL], into album: PhotoAlbum, _ completion: @escaping (Error?) -> Void) {
        let group = DispatchGroup()
        let errors = FirstError()
        for url in urls {
            group.enter()
            download(url) { result in
                errors.note(album.take(result))
                group.leave()
            }
        }
        group.notify(queue: .main) { completion(errors.first) }
    }
    // endregion

    /// As many threads as there are processors wait for one download each.
    private func downloadByApply(_ urls: [URL], into album: PhotoAlbum, _ completion: @escaping (Error?) -> Void) {
        DispatchQueue.global(qos: .userInitiated).async {
            let errors = FirstError()
            DispatchQueue.concurrentPerform(iterations: urls.count) { index in
                let isDone = DispatchSemaphore(value: 0)
                self.download(urls[index]) { result in
                    errors.note(album.take(result))
                    isDone.signal()
                }
                isDone.wait()
            }
            DispatchQueue.main.async { completion(errors.first) }
        }
    }
}

extension PhotoAlbum {
    /// Adds a photo that has come. Returns the error if none has.
    fileprivate func take(_ result: Result<Picture, Error>) -> Error? {
        switch result {
        case .success(let photo):
            add(photo)
            return nil
        case .failure(let error):
            return error
        }
    }
}

/// Keeps the first error that is noted, on whatever thread.
private final class FirstError: @unchecked Sendable {
    private let lock = NSLock()
    private var error: Error?

    var first: Error? { lock.withLock { error } }

    func note(_ new: Error?) {
        lock.withLock { error = error ?? new }
    }
}
