import Foundation
public import MigrationExamplesSupport
import TaskOperations

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Ported {
    /// Downloads a batch of photos in four ways, and shows an overview of them.
    public static func photoManager(_ input: RecipeInput) async throws -> RecipeResult {
        let server = try input.server
        let urls = input.pictures.map { server.url(of: $0) } + [server.url(path: "/there%20is%20none")]
        var facts: [String] = []
        var album = PhotoAlbum()
        for way in PhotoManager.Way.allCases {
            album = PhotoAlbum()
            let error = try await PhotoManager.shared.download(urls, into: album, by: way)
            let outcome = error == nil ? "no error" : "an error"
            facts.append("\(way) \(await album.photos.count) of \(urls.count) and \(outcome)")
            try Task.checkCancellation()
        }

        let screen = PhotoScreen()
        async let prompt: Void = screen.showPromptLater(for: album)
        async let overview: Void = screen.showOverview(of: album)
        _ = try await (prompt, overview)
        facts += await screen.facts + [instances(), lostPhotos(album)]
        return RecipeResult(facts.joined(separator: ", "))
    }

    /// How many managers many tasks get that ask at once.
    private static func instances() async -> String {
        let managers = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<8 { group.addTask { ObjectIdentifier(PhotoManager.shared) } }
            return await group.reduce(into: []) { $0.insert($1) } as Set
        }
        return "\(managers.count) manager"
    }

    /// How many photos are not there for who reads after adding them, while others read and add.
    private static func lostPhotos(_ album: PhotoAlbum) async -> String {
        let (photos, copy, lost) = (await album.photos, PhotoAlbum(), PhotoAlbum())
        await concurrentPerform(over: photos) { photo in
            await copy.add(photo)
            if await !copy.photos.contains(photo) { await lost.add(photo) }
        }
        return "\(await lost.photos.count) lost"
    }
}

// region: photo-manager
/// Downloads photos for everybody, with one session.
final class PhotoManager: Sendable {
    static let shared = PhotoManager()

    private let session = URLSession(configuration: .patient)

    private init() {}

    func download(_ url: URL) async throws -> Picture {
        let (data, response) = try await session.data(from: url)
        return Picture(decoding: try DownloadFailure.check(data, response))
    }
}

/// Photos, which one task at a time reads or adds to.
actor PhotoAlbum {
    private(set) var photos: [Picture] = []

    func add(_ photo: Picture) {
        photos.append(photo)
    }
}
// endregion
