import Foundation
public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Fills a database that may be used only on one thread.
    public static func performOnThread(_ input: RecipeInput) async throws -> RecipeResult {
        // region: perform-on-thread
        let database = Database()
        for file in input.files.prefix(40) { await database.insert(file) }
        return RecipeResult(await database.summary)
        // endregion
    }
}

// region: perform-on-thread-database
/// All that is isolated to it runs on one thread.
private actor Database {
    private let thread = ThreadExecutor(name: "database")
    private var bytes = 0
    private var threads: Set<ObjectIdentifier> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func insert(_ file: InputFile) {
        threads.insert(ObjectIdentifier(Thread.current))
        bytes += file.size
    }

    var summary: String { "\(bytes) bytes, inserted by \(threads.count) threads" }
}
// endregion
