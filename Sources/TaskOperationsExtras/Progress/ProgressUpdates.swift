import TaskOperations

/// A sequence of progress values. It yields the current progress, the progress after each change, and finally the
/// complete progress.
///
/// Each element is the latest progress. Of several changes between two calls of `next()`, only the last one is
/// returned. Cancelling the task ends the sequence. You can iterate the sequence several times, even after the end of
/// the work.
public struct ProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = OperationProgress
    public typealias Failure = Never

    let sources: [any ProgressSource]
    /// Returns the progress of the sources. Returns nil if the sequence must end although the progress is incomplete.
    let current: @Sendable ([any ProgressSource]) -> OperationProgress?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator over the progress values.
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

/// A subscription to the changes of sources. It ends when this object is released.
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
