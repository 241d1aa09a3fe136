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
        var facts = [shownEarly(urls, server)]
        var album = PhotoAlbum()
        for way in PhotoManager.Way.allCases {
            album = PhotoAlbum()
            let isCompleted = DispatchSemaphore(value: 0)
            PhotoManager.shared.download(urls, into: album, by: way) { [album] error in
                let outcome = error == nil ? "no error" : "an error"
                facts.append("\(way) \(album.photos.pictures.count) of \(urls.count) and \(outcome)")
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

    /// How many photos observers were told of, and how many of these are downloading, while the server sends nothing.
    private static func shownEarly(_ urls: [URL], _ server: FileServer) -> String {
        let (album, isAdded, isCompleted) = (PhotoAlbum(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let observer = NotificationCenter.default.addObserver(
            forName: PhotoAlbum.didAddPhoto, object: album, queue: nil
        ) { _ in isAdded.signal() }
        defer { NotificationCenter.default.removeObserver(observer) }
        server.isPaused = true
        PhotoManager.shared.download(urls, into: album, by: .loop) { _ in isCompleted.signal() }
        for _ in urls { isAdded.wait() }
        let (photos, pictures) = (album.photos.count, album.photos.pictures.count)
        server.isPaused = false
        isCompleted.wait()
        return "told of \(photos) photos, \(photos - pictures) still downloading"
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

    /// How many photos a reader misses after adding them, while others read and add.
    private static func lostPhotos(_ album: PhotoAlbum) -> String {
        let (photos, copy) = (album.photos, PhotoAlbum())
        let lock = NSLock()
        var lost = 0
        DispatchQueue.concurrentPerform(iterations: photos.count) { index in
            copy.add(photos[index])
            if !copy.photos.contains(where: { $0 === photos[index] }) { lock.withLock { lost += 1 } }
        }
        return "\(lost) lost"
    }
}

/// Downloads photos for all screens, with one session.
final class PhotoManager {
    static let shared = PhotoManager()

    private let session = URLSession(configuration: .patient)

    private init() {}

    func download(_ photo: Photo, completion: @escaping () -> Void) {
        session.dataTask(with: photo.url) { data, response, error in
            photo.finish(
                Result {
                    if let error { throw error }
                    return Picture(decoding: try DownloadFailure.check(data ?? Data(), response))
                })
            completion()
        }.resume()
    }
}

/// A photo, which is in an album before its bytes arrive.
final class Photo: @unchecked Sendable {
    enum State { case downloading, ready(Picture, thumbnail: Picture), failed(Error) }

    let url: URL
    private let lock = NSLock()
    private var unsafeState = State.downloading

    init(_ url: URL) { self.url = url }

    var state: State { lock.withLock { unsafeState } }

    func finish(_ result: Result<Picture, Error>) {
        let state: State =
            switch result {
            case .success(let picture): .ready(picture, thumbnail: picture.thumbnail)
            case .failure(let error): .failed(error)
            }
        lock.withLock { unsafeState = state }
    }
}

// region: photo-manager
/// Photos, with many readers and one writer at a time.
final class PhotoAlbum: @unchecked Sendable {
    /// Posted on the main queue after each addition.
    static let didAddPhoto = Notification.Name("didAddPhoto")
    private let queue = DispatchQueue(label: "album", attributes: .concurrent)
    private var unsafePhotos: [Photo] = []

    var photos: [Photo] {
        queue.sync { unsafePhotos }
    }

    func add(_ photo: Photo) {
        queue.async(flags: .barrier) {
            self.unsafePhotos.append(photo)
            DispatchQueue.main.async { NotificationCenter.default.post(name: Self.didAddPhoto, object: self) }
        }
    }
}
// endregion

extension [Photo] {
    var pictures: [Picture] { compactMap { if case .ready(let picture, _) = $0.state { picture } else { nil } } }
    var thumbnails: [Picture] { compactMap { if case .ready(_, let small) = $0.state { small } else { nil } } }
    var firstError: Error? { lazy.compactMap { if case .failed(let error) = $0.state { error } else { nil } }.first }
}
