import MigrationExamplesSupport

/// What the user sees. The compiler has it changed on the main actor only.
@MainActor
final class PhotoScreen {
    private var prompt = ""
    private var overview: Picture?

    /// Says what to do, when the user had a moment to look. Cancelling the task cancels that.
    func showPromptLater(for album: PhotoAlbum) async throws {
        try await Task.sleep(for: .milliseconds(20))
        prompt = await album.photos.pictures.isEmpty ? "add photos" : "share photos"
    }

    /// Draws all photos in the background, and shows the picture.
    func showOverview(of album: PhotoAlbum) async {
        overview = await draw(album.photos.thumbnails)
    }

    @concurrent private nonisolated func draw(_ thumbnails: [Picture]) async -> Picture {
        Picture(overviewOf: thumbnails)
    }

    var facts: [String] {
        ["prompt \(prompt)", "overview \(overview.map { "\($0.digest)" } ?? "missing")"]
    }
}
