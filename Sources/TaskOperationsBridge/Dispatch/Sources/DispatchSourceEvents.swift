internal import Dispatch

/// The events of a Dispatch source. The sequence can be iterated once.
///
/// Leaving the loop, or cancelling its task, cancels the source. Events that occur while no task waits are merged into
/// one event, as Dispatch does for this kind of source. So a slow iteration does not accumulate events.
public struct DispatchSourceEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let subscription: SourceSubscription<Element>

    init(_ subscription: SourceSubscription<Element>) {
        self.subscription = subscription
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// An iterator over the events. When an iteration ends, the source ends, also for other iterations of the same
    /// sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the subscription when the iterator is released.
        private final class Iteration: Sendable {
            let subscription: SourceSubscription<Element>

            init(_ subscription: SourceSubscription<Element>) {
                self.subscription = subscription
            }

            deinit { subscription.finish() }
        }

        private let iteration: Iteration

        fileprivate init(_ subscription: SourceSubscription<Element>) {
            iteration = Iteration(subscription)
        }

        /// Waits for the next event. Returns nil if there will be none.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await iteration.subscription.next()
        }
    }
}
