import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Loads files, one of which never arrives, until the user cancels.
    public static func cancellingNetworkCall(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelling-network-call
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let client = FileClient(silentFor: input.sample.last)
        let loads = input.sample.map { LoadOperation($0, from: client) }
        queue.addOperations(loads, waitUntilFinished: false)
        for load in loads.dropLast() { load.waitUntilFinished() }
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()

        let loaded = loads.filter { (try? $0.outcome?.get()) != nil }.count
        return RecipeResult("\(loaded) loaded, \(loads.filter(\.isCancelled).count) cancelled")
        // endregion
    }
}

// region: cancelling-network-call-operation
/// Hands its cancellation on to its request. `AsynchronousOperation` is that of the state machine by hand.
private final class LoadOperation: AsynchronousOperation, @unchecked Sendable {
    private let file: InputFile
    private let client: FileClient
    private let lock = NSLock()
    private var request: FileRequest?
    private var answer: Result<[UInt8], Error>?

    init(_ file: InputFile, from client: FileClient) {
        self.file = file
        self.client = client
    }

    var outcome: Result<[UInt8], Error>? { lock.withLock { answer } }

    override func main() {
        let request = client.load(file) { outcome in
            self.lock.withLock { self.answer = outcome }
            self.finish()
        }
        lock.withLock { self.request = request }
        if isCancelled { request.cancel() }  // it may have come while there was no request yet
    }

    override func cancel() {
        super.cancel()
        lock.withLock { request }?.cancel()
    }
}
// endregion
