import TaskOperations
import TaskOperationsExtras

/// The uploads of one user, until the logout.
final class SyncService<Document: Hashable & Sendable, Change: Sendable>: Sendable {
    private let network = AsyncSemaphore(capacity: .max, name: "network")
    private let queue: TaskOperationQueue
    private let changes: SerialOperations<Document>
    private let upload: @Sendable (Document, Change) async throws -> Void

    init(
        retry: RetryPolicy = .exponential(initial: .seconds(1), jitter: 0.5, attempts: 8),
        upload: @escaping @Sendable (Document, Change) async throws -> Void
    ) {
        self.upload = upload
        queue = TaskOperationQueue(
            .init(
                name: "sync", maxConcurrentOperationCount: 4, whenReleased: .cancel,
                defaults: [.retry(retry), .limit(network)]))
        changes = SerialOperations(queue: queue)
    }

    /// Without a network, neither operations nor further attempts start.
    var isOnline: Bool {
        get { network.capacity > 0 }
        set { network.capacity = newValue ? .max : 0 }
    }

    /// Uploads the changes of a document in their order, and several documents at once.
    @discardableResult
    func submit(_ change: Change, of document: Document) -> TaskOperation<Void> {
        changes.addOperation(for: document, name: "\(document)") { [upload] in try await upload(document, change) }
    }

    /// Runs after all changes that were submitted before, and alone.
    func refresh(_ load: @escaping @Sendable () async throws -> Void) async throws {
        try await queue.runBarrier(name: "refresh", body: load)
    }

    func logOut() async throws {
        try await queue.shutDown(cancellingAfter: .zero)
    }
}
