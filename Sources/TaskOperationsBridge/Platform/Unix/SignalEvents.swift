#if !os(Windows)
    public import Dispatch
    internal import Foundation
    internal import TaskOperations
    internal import TaskOperationsExtras

    extension DispatchSource {
        /// Returns a sequence that delivers a signal, by its number. When the call returns, the signal is caught.
        ///
        /// ```swift
        /// for await _ in await DispatchSource.signalEvents(signal: SIGTERM) { await server.stop() }
        /// ```
        ///
        /// A signal that is raised again before it is taken is delivered once.
        ///
        /// On Linux, Dispatch replaces the signal's action with its own handler, and keeps the handler after the end of
        /// the iteration. Without an iteration, the signal is then ignored, and becomes the first event of the next
        /// sequence for it. On Apple platforms, the signal's action is performed too. If that would end the process,
        /// call `signal(SIGTERM, SIG_IGN)` first.
        ///
        /// - Parameter signal: The number of the signal, neither `SIGKILL` nor `SIGSTOP`.
        public static func signalEvents(signal: Int32) async -> DispatchSourceEvents<Int32> {
            var signals = sigset_t()
            require(
                sigaddset(&signals, signal) == 0 && signal != SIGKILL && signal != SIGSTOP,
                "There is no signal \(signal) that a process can catch.")
            let source = makeSignalSource(signal: signal, queue: bridgeQueue)
            let isRegistered = Promise<Void>()
            source.setRegistrationHandler { @Sendable in isRegistered.provide(()) }
            let subscription = SourceSubscription(source, isWatched: true) { _ in signal }
            await isRegistered.value
            return DispatchSourceEvents(subscription)
        }
    }
#endif
