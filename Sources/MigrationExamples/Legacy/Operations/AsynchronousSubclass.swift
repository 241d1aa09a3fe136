import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Loads files through a client with completion handlers, four at a time.
    public static func asynchronousSubclass(_ input: RecipeInput) throws -> RecipeResult {
        // region: asynchronous-subclass
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let client = FileClient()
        let loads = input.sample.map { LoadOperation($0, from: client) }
        queue.addOperations(loads, waitUntilFinished: true)

        let contents = loads.compactMap { try? $0.outcome?.get() }
        // endregion
        let counts = input.sample.prefix(3).map { ThreadedCount($0) }
        queue.addOperations(counts, waitUntilFinished: true)
        return RecipeResult(
            """
            \(contents.count) loaded, \(contents.reduce(0) { $0 + $1.count }) bytes, \
            \(counts.reduce(0) { $0 + $1.lines }) lines
            """)
    }
}

/// Executes on a thread that `start()` detaches, and tells its queue of both ends.
private final class ThreadedCount: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }
    private let lock = NSLock()
    private var state = State.waiting
    private let file: InputFile
    private(set) var lines = 0  // written before it finishes, read after it

    init(_ file: InputFile) { self.file = file }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    // region: asynchronous-subclass-thread
    override func start() {
        if isCancelled { return set(.finished, telling: "isFinished") }
        set(.executing, telling: "isExecuting")
        Thread.detachNewThread { self.main() }
    }

    override func main() {
        lines = file.lineCount()
        set(.finished, telling: "isExecuting", "isFinished")
    }
    // endregion

    private func set(_ new: State, telling keys: String...) {
        keys.forEach { willChangeValue(forKey: $0) }
        lock.withLock { state = new }
        keys.forEach { didChangeValue(forKey: $0) }
    }
}

// region: asynchronous-subclass-operation
/// Executes until the client has answered, and tells its queue by key-value observing.
private final class LoadOperation: Operation, @unchecked Sendable {
    private let file: InputFile
    private let client: FileClient
    private let lock = NSLock()
    private var hasBegun = false
    private var answer: Result<[UInt8], Error>?

    init(_ file: InputFile, from client: FileClient) {
        self.file = file
        self.client = client
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { hasBegun && answer == nil } }
    override var isFinished: Bool { lock.withLock { answer != nil } }
    var outcome: Result<[UInt8], Error>? { lock.withLock { answer } }

    override func start() {
        if isCancelled { return finish(.failure(CancellationError())) }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { hasBegun = true }
        didChangeValue(forKey: "isExecuting")
        client.load(file) { self.finish($0) }
    }

    private func finish(_ outcome: Result<[UInt8], Error>) {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { answer = outcome }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
// endregion
