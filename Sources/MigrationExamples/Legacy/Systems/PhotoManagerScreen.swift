import Foundation
import MigrationExamplesSupport

/// The user interface. Changed on the main queue only.
final class PhotoScreen: @unchecked Sendable {
    /// Entered for each change that is to come.
    let updates = DispatchGroup()
    private var prompt = ""
    private var overview: Picture?

    /// Calls the next step, after the user had a moment to look.
    func showPromptLater(for album: PhotoAlbum) {
        updates.enter()
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(20)) {
            self.prompt = album.photos.pictures.isEmpty ? "add photos" : "share photos"
            self.updates.leave()
        }
    }

    /// Draws all photos in the background, and shows the picture.
    func showOverview(of album: PhotoAlbum) {
        updates.enter()
        DispatchQueue.global(qos: .userInitiated).async {
            let overview = Picture(overviewOf: album.photos.thumbnails)
            DispatchQueue.main.async {
                self.overview = overview
                self.updates.leave()
            }
        }
    }

    var facts: [String] {
        DispatchQueue.main.sync { ["prompt \(prompt)", "overview \(overview.map { "\($0.digest)" } ?? "missing")"] }
    }
}
