import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Holds back the events of a source while it is suspended.
    public static func suspendedSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: suspended-source
        let files = input.files
        let (counted, isDone) = (SharedCount(), DispatchSemaphore(value: 0))
        let source = DispatchSource.makeUserDataAddSource(queue: DispatchQueue(label: "counts"))
        source.setEventHandler {
            counted.add(Int(source.data))
            if counted.total == files.count { isDone.signal() }
        }
        source.activate()
        source.suspend()
        for _ in files { source.add(data: 1) }
        let whileSuspended = counted.total
        source.resume()
        if !files.isEmpty { isDone.wait() }
        source.cancel()
        return RecipeResult("\(whileSuspended) while suspended, \(counted.total) in the end")
        // endregion
    }
}
