import Foundation
import MigrationExamplesSupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Legacy {
    /// Downloads a batch of photos in four ways, and shows an overview of them.
    public static func photoManager(_ input: RecipeInput) throws -> RecipeResult {
        let server = try input.server
        let urls = input.pictures.map { server.url(of: $0) } + [server.url(path: "/there%20is%20none")]
        var facts: [String] = []
        var album = PhotoAlbum()
        for way in PhotoManager.Way.allCases {
            album = PhotoAlbum()
            let isCompleted = DispatchSemaphore(value: 0)
            PhotoManager.shared.download(urls, into: album, by: way) { [album] error in
                let outcome = error == nil ? "no error" : "an error"
                facts.append("\(way) \(album.photos.count) of \(urls.count) and \(outcome)")
                isCompleted.signal()
            }
            isCompleted.wait()
            try input.cancellation.check()
        }

        let screen = PhotoScreen()
        screen.showPromptLater(for: album)
        screen.showOverview(of: album)
        screen.updates.wait()
        return RecipeResult((facts + screen.facts + [instances(), lostPhotos(album)]).joined(separator: ", "))
    }

    /// How many managers many threads get that ask at once.
    private static func instances() -> String {
        let lock = NSLock()
        var managers: Set<ObjectIdentifier> = []
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            lock.withLock { _ = managers.insert(ObjectIdentifier(PhotoManager.shared)) }
        }
        return "\(managers.count) manager"
    }

    /// How many photos are not there for who reads after adding them, while others read and add.
    private static func lostPhotos(_ album: PhotoAlbum) -> String {
        let (photos, copy) = (album.photos, PhotoAlbum())
        let lock = NSLock()
        var lost = 0
        DispatchQueue.concurrentPerform(iterations: photos.count) { index in
            copy.add(photos[index])
            if !copy.photos.contains(photos[index]) { lock.withLock { lost += 1 } }
        }
        return "\(lost) lost"
    }
}

// region: photo-manager
/// Downloads photos for everybody, with one session.
final class PhotoManager {
    static let shared = PhotoManager()

    private let session = URLSession(configuration: .patient)

    private init() {}

    func download(_ url: URL, completion: @escaping (Result<Picture, Error>) -> Void) {
        session.dataTask(with: url) { data, response, error in
            completion(
                Result {
                    if let error { throw error }
                    return Picture(decoding: try DownloadFailure.check(data ?? Data(), response))
                })
        }.resume()
    }
}

/// Photos, with many readers and one writer at a time.
final class PhotoAlbum: @unchecked Sendable {
    private let queue = DispatchQueue(label: "album", attributes: .concurrent)
    private var unsafePhotos: [Picture] = []

    var photos: [Picture] {
        queue.sync { unsafePhotos }
    }

    func add(_ photo: Picture) {
        queue.async(flags: .barrier) { self.unsafePhotos.append(photo) }
    }
}
// endregion
