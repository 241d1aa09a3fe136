import TaskOperations

/// A sequence of progress values. It yields the current progress, the progress after each change, and finally the
/// complete progress.
///
/// Each element is the latest progress. Of several changes between two calls of `next()`, only the last one is
/// returned. Cancelling the task ends the sequence. You can iterate the sequence several times, even after the end of
/// the work.
///
/// A body that iterates the progress of an operation lends its permit during a wait if that operation needs the permit.
/// A body that iterates the progress of a queue lends its permit during each wait, unless its queue never lends.
public struct ProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = OperationProgress
    public typealias Failure = Never

    let sources: [any ProgressSource]
    /// The operation whose end completes the progress; nil if no single operation does.
    weak let operation: AnyTaskOperation?
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
            while await subscription.nextChange() {
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

    /// Waits for the next change. Returns false if the task is cancelled.
    ///
    /// A wait of a body is an edge of the wait graph. If the operation waits for the body, the change may come from
    /// another operation, which may need the permit of the body. The body then lends the permit.
    func nextChange() async -> Bool {
        await listener.nextChange { wait in
            do {
                if let operation = updates.operation { return try await operation.whileAwaited(wait: wait) }
            } catch {}
            await withPermitLent(wait)
        }
    }

    var current: OperationProgress? { updates.current(updates.sources) }
}
