import Foundation
public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads a batch of photos in four ways, and shows an overview of them.
    public static func photoManager(_ input: RecipeInput) async throws -> RecipeResult {
        let server = try input.server
        let urls = input.pictures.map { server.url(of: $0) } + [server.url(path: "/there%20is%20none")]
        var facts = [try await shownEarly(urls, server)]
        var album = PhotoAlbum()
        for way in PhotoManager.Way.allCases {
            album = PhotoAlbum()
            let error = try await PhotoManager.shared.download(urls, into: album, by: way)
            let outcome = error == nil ? "no error" : "an error"
            facts.append("\(way) \(await album.photos.pictures.count) of \(urls.count) and \(outcome)")
        }

        let screen = PhotoScreen()
        async let prompt: Void = screen.showPromptLater(for: album)
        async let overview: Void = screen.showOverview(of: album)
        _ = try await (prompt, overview)
        facts += await screen.facts + [instances(), lostPhotos(album)]
        return RecipeResult(facts.joined(separator: ", "))
    }

    /// Returns the number of photos that observers were told of while the server sends nothing, and how many of these
    /// are still downloading.
    private static func shownEarly(_ urls: [URL], _ server: FileServer) async throws -> String {
        let album = PhotoAlbum()
        server.isPaused = true
        async let error = PhotoManager.shared.download(urls, into: album, by: .loop)
        for await count in album.additions where count == urls.count { break }
        let photos = await album.photos
        server.isPaused = false
        _ = try await error
        return "told of \(photos.count) photos, \(photos.count - photos.pictures.count) still downloading"
    }

    /// Returns the number of managers that many concurrent tasks receive.
    private static func instances() async -> String {
        let managers = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<8 { group.addTask { ObjectIdentifier(PhotoManager.shared) } }
            return await group.reduce(into: []) { $0.insert($1) } as Set
        }
        return "\(managers.count) manager"
    }

    /// Returns the number of photos that a task cannot find after it added them, while other tasks read and add.
    private static func lostPhotos(_ album: PhotoAlbum) async -> String {
        let (photos, copy, lost) = (await album.photos, PhotoAlbum(), SharedCount())
        await concurrentPerform(over: photos) { photo in
            let added = await copy.add(photo.url)
            if await !copy.photos.contains(where: { $0.id == added.id }) { lost.add(1) }
        }
        return "\(lost.total) lost"
    }
}

/// Downloads photos for all screens, with one session.
final class PhotoManager: Sendable {
    static let shared = PhotoManager()

    private let session = URLSession(configuration: .patient)

    private init() {}

    func download(_ url: URL) async throws -> Picture {
        let (data, response) = try await session.transfer(url)
        return Picture(decoding: try DownloadFailure.check(data, response))
    }
}

/// A photo. An album contains it before its bytes arrive.
struct Photo: Identifiable, Sendable {
    enum State: Sendable { case downloading, ready(Picture, thumbnail: Picture), failed(any Error) }

    let id: Int
    let url: URL
    fileprivate(set) var state = State.downloading
}

// region: photo-manager
/// Photos, which one task at a time reads or changes.
actor PhotoAlbum {
    private(set) var photos: [Photo] = []
    /// The number of photos after each addition.
    nonisolated let additions: AsyncStream<Int>
    private let addition: AsyncStream<Int>.Continuation

    init() { (additions, addition) = AsyncStream.makeStream() }

    func add(_ url: URL) -> Photo {
        let photo = Photo(id: photos.count, url: url)
        photos.append(photo)
        addition.yield(photos.count)
        return photo
    }

    func setState(_ state: Photo.State, of photo: Photo) {
        photos[photo.id].state = state
    }
}
// endregion

extension PhotoAlbum {
    /// Ends the photos that are still downloading.
    func fail(_ batch: [Photo], with error: any Error) {
        for photo in batch {
            if case .downloading = photos[photo.id].state { photos[photo.id].state = .failed(error) }
        }
    }

    func firstError(of batch: [Photo]) -> (any Error)? {
        batch.map { photos[$0.id] }.firstError
    }
}

extension [Photo] {
    var pictures: [Picture] { compactMap { if case .ready(let picture, _) = $0.state { picture } else { nil } } }
    var thumbnails: [Picture] { compactMap { if case .ready(_, let small) = $0.state { small } else { nil } } }
    var firstError: (any Error)? {
        lazy.compactMap { if case .failed(let error) = $0.state { error } else { nil } }.first
    }
}
