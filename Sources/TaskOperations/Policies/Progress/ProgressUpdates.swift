/// How far something has come, as a sequence: where it stands now, then each change, and at last that it is finished.
///
/// Changes that come faster than they are asked for are left out: each element is the latest. Cancelling the task ends
/// the sequence. It can be iterated any number of times, also when all is finished.
public struct ProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = OperationProgress
    public typealias Failure = Never

    let sources: [any ProgressSource]
    /// Where it stands, given the sources; nil if the sequence is to end without being finished.
    let current: @Sendable ([any ProgressSource]) -> OperationProgress?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Goes through the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: ProgressSubscription
        private var last: OperationProgress?

        fileprivate init(_ updates: ProgressUpdates) {
            subscription = ProgressSubscription(updates)
        }

        public mutating func next() async -> OperationProgress? {
            if last?.isFinished == true { return nil }
            while await subscription.listener.nextChange() {
                guard let current = subscription.current else { return nil }
                if current == last { continue }
                last = current
                return current
            }
            return nil
        }
    }
}

/// Listens to sources as long as it lives.
private final class ProgressSubscription: Sendable {
    let listener = ProgressListener()
    private let updates: ProgressUpdates

    init(_ updates: ProgressUpdates) {
        self.updates = updates
        for source in updates.sources { source.add(listener) }
    }

    deinit {
        for source in updates.sources { source.remove(listener) }
    }

    var current: OperationProgress? { updates.current(updates.sources) }
}
