#if canImport(Darwin)
    internal import Dispatch
    internal import Foundation

    /// A process. A Dispatch source reports its exit.
    final class WatchedProcess: Sendable {
        let identifier: pid_t
        private let events: DispatchSourceEvents<pid_t>

        init(_ identifier: pid_t) throws(SystemCallError) {
            if kill(identifier, 0) != 0, errno == ESRCH { throw SystemCallError("kill") }
            let source = DispatchSource.makeProcessSource(identifier: identifier, eventMask: .exit, queue: bridgeQueue)
            self.identifier = identifier
            events = DispatchSourceEvents(
                SourceSubscription(source, isWatched: true, isSingle: true) { _ in identifier })
        }

        /// Waits until the process has exited. Returns false if the task is cancelled.
        func waitForExit() async throws(SystemCallError) -> Bool {
            var iterator = events.makeAsyncIterator()
            return await iterator.next() != nil
        }
    }
#endif
