internal import Dispatch

/// The events of a Dispatch source, to be iterated over once.
///
/// Ending the iteration, by leaving the loop or by cancelling its task, cancels the source. Events that occur while no
/// task waits are merged into one, in the manner of the source. So a slow iteration does not accumulate events.
public struct DispatchSourceEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let subscription: SourceSubscription<Element>

    init(_ subscription: SourceSubscription<Element>) {
        self.subscription = subscription
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// An iteration. Its end is the end of the source, also for another iteration of the same sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the subscription when the iterator is gone.
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
