import Foundation
public import MigrationExamplesSupport

extension Ported {
    /// Counts the files that notifications report.
    public static func systemQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: system-queue
        let center = NotificationCenter()
        let listed = Notification.Name("FileListed")
        let (names, observer) = AsyncStream.makeStream(of: String.self)
        let token = center.addObserver(forName: listed, object: nil, queue: nil) { notification in
            observer.yield(notification.object as? String ?? "")
        }
        for file in input.files { center.post(name: listed, object: file.name) }
        center.removeObserver(token)
        observer.finish()
        let count = await names.reduce(0) { count, _ in count + 1 }
        return RecipeResult("\(count) files told")
        // endregion
    }
}
