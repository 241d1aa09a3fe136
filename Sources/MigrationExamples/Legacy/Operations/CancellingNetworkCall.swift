import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Loads files, one of which never arrives, until the user cancels.
    public static func cancellingNetworkCall(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelling-network-call
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let client = FileClient(silentFor: input.sample.last)
        let told = SharedCount()
        let loads = input.sample.map { LoadOperation($0, from: client) { told.add(1) } }
        queue.addOperations(loads, waitUntilFinished: false)
        for load in loads.dropLast() { load.waitUntilFinished() }
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()

        let loaded = loads.filter { (try? $0.outcome?.get()) != nil }.count
        let cancelled = loads.filter(\.isCancelled).count
        return RecipeResult("\(loaded) loaded, \(cancelled) cancelled, \(told.total) told")
        // endregion
    }
}

// region: cancelling-network-call-operation
/// Hands its cancellation on to its request. `AsynchronousOperation` is that of the state machine by hand.
private final class LoadOperation: AsynchronousOperation, @unchecked Sendable {
    private let file: InputFile
    private let client: FileClient
    private let tellOthers: () -> Void
    private let lock = NSLock()
    private var request: FileRequest?
    private var answer: Result<[UInt8], Error>?

    init(_ file: InputFile, from client: FileClient, tellOthers: @escaping () -> Void) {
        self.file = file
        self.client = client
        self.tellOthers = tellOthers
    }

    /// Nil if it was cancelled: the bytes so far may be a part of the file.
    var outcome: Result<[UInt8], Error>? { isCancelled ? nil : lock.withLock { answer } }

    override func main() {
        let request = client.load(file) { outcome in
            self.lock.withLock { self.answer = outcome }
            self.finish()
        }
        lock.withLock { self.request = request }
        if isCancelled { request.cancel() }  // it may have come while there was no request yet
    }

    override func cancel() {
        if isCancelled || isFinished { return }
        super.cancel()
        lock.withLock { request }?.cancel()
        tellOthers()
    }
}
// endregion
