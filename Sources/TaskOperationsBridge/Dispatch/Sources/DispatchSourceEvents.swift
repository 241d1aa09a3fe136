public import Dispatch

/// The events of a Dispatch source. You can iterate the sequence once.
///
/// Leaving the loop cancels the source. Cancelling the iterating task cancels the source, too. While no task waits,
/// Dispatch merges events into one event, in the way of this kind of source. So events do not accumulate if the
/// iteration is slow.
public struct DispatchSourceEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let subscription: SourceSubscription<Element>

    init(_ subscription: SourceSubscription<Element>) {
        self.subscription = subscription
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// An iterator over the events. The end of one iteration cancels the source, and so ends all other iterations of
    /// the same sequence.
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

        /// Waits for the next event. Returns nil if the source was cancelled or has no further events.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            await iteration.subscription.next()
        }
    }
}

extension DispatchSource {
    /// Returns the events of a source for which there is no other function: Mach ports, file system objects and memory
    /// pressure on Apple platforms.
    ///
    /// ```swift
    /// let source = DispatchSource.makeMachReceiveSource(port: port)
    /// for await _ in DispatchSource.events(of: source) { receiveMessage(from: port) }
    /// ```
    ///
    /// Each element is the `data` of the source at an event. The sequence activates the source, and the end of the
    /// iteration cancels it.
    ///
    /// - Parameter source: A source that is neither activated nor cancelled. Its handlers for events and cancellation
    ///   are replaced.
    public static func events(of source: any DispatchSourceProtocol) -> DispatchSourceEvents<UInt> {
        DispatchSourceEvents(SourceSubscription(source) { $0 })
    }
}
