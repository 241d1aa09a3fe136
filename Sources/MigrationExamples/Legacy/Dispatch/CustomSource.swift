import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts on one queue the work of many threads.
    public static func customSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: custom-source
        let files = Array(input.files.prefix(40))
        let progress = FileProgress(total: files.count)
        let isOver = DispatchSemaphore(value: 0)
        let source = DispatchSource.makeUserDataAddSource(queue: DispatchQueue(label: "progress"))
        source.setEventHandler {
            progress.done += Int(source.data)
            if progress.done == progress.total { source.cancel() }
        }
        source.setCancelHandler { isOver.signal() }
        source.activate()

        DispatchQueue.concurrentPerform(iterations: files.count) { index in
            _ = try? files[index].headDigest()
            source.add(data: 1)
        }
        if files.isEmpty { source.cancel() }  // nothing was added, so there is no event
        isOver.wait()
        return RecipeResult("\(progress.done) of \(progress.total) done")
        // endregion
    }
}

/// Reached by the queue of the source only, until that is cancelled.
private final class FileProgress {
    let total: Int
    var done = 0

    init(total: Int) {
        self.total = total
    }
}
