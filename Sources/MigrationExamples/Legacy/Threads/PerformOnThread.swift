import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills a database that may be used on one thread only.
    public static func performOnThread(_ input: RecipeInput) throws -> RecipeResult {
        // region: perform-on-thread
        let thread = WorkerThread(name: "database")
        let database = Database()
        for file in input.files.prefix(40) {
            thread.perform { database.insert(file) }
        }
        let isDone = DispatchSemaphore(value: 0)
        thread.perform { isDone.signal() }
        isDone.wait()
        thread.stop()
        return RecipeResult(database.summary)
        // endregion
    }
}

// region: perform-on-thread-worker
/// Runs blocks one after the other, as `perform(_:on:with:waitUntilDone:)` has them run by a run loop.
private final class WorkerThread: @unchecked Sendable {
    private let condition = NSCondition()
    private var blocks: [() -> Void] = []
    private var isStopped = false

    init(name: String) {
        let thread = Thread { [self] in
            while let block = next() { block() }
        }
        thread.name = name
        thread.start()
    }

    func perform(_ block: @escaping () -> Void) {
        condition.lock()
        blocks.append(block)
        condition.signal()
        condition.unlock()
    }

    /// Ends the thread after all submitted work is done.
    func stop() {
        condition.lock()
        isStopped = true
        condition.signal()
        condition.unlock()
    }

    private func next() -> (() -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        while blocks.isEmpty && !isStopped { condition.wait() }
        return blocks.isEmpty ? nil : blocks.removeFirst()
    }
}
// endregion

// region: perform-on-thread-database
/// Has no lock: it is used on one thread only.
private final class Database {
    private var bytes = 0
    private var threads: Set<ObjectIdentifier> = []

    func insert(_ file: InputFile) {
        threads.insert(ObjectIdentifier(Thread.current))
        bytes += file.size
    }

    var summary: String { "\(bytes) bytes, inserted by \(threads.count) threads" }
}
// endregion
