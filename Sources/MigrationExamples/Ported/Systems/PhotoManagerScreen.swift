import MigrationExamplesSupport

/// The user interface. The compiler lets only the main actor change it.
@MainActor
final class PhotoScreen {
    private var prompt = ""
    private var overview: Picture?

    /// Performs the next step after a delay for the user. Cancelling the task cancels the step.
    func showPromptLater(for album: PhotoAlbum) async throws {
        try await Task.sleep(for: .milliseconds(20))
        let isEmpty = await album.photos.pictures.isEmpty
        try Task.checkCancellation()  // it may have come after the sleep
        prompt = isEmpty ? "add photos" : "share photos"
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
