import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts the files of which notifications tell.
    public static func systemQueue(_ input: RecipeInput) throws -> RecipeResult {
        // region: system-queue
        let center = NotificationCenter()
        let listed = Notification.Name("FileListed")
        let names = Journal()
        let told = DispatchGroup()
        let queue = OperationQueue()
        let token = center.addObserver(forName: listed, object: nil, queue: queue) { notification in
            names.write(notification.object as? String ?? "")
            told.leave()
        }
        for file in input.files {
            told.enter()
            center.post(name: listed, object: file.name)
        }
        told.wait()
        center.removeObserver(token)
        return RecipeResult("\(names.lines.count) files told")
        // endregion
    }
}
