#if !os(Windows)
    public import Dispatch
    internal import Foundation
    internal import TaskOperations
    internal import TaskOperationsExtras

    extension DispatchSource {
        /// Returns a sequence that delivers a signal's number each time the signal is raised. When the call returns,
        /// the signal is already observed.
        ///
        /// ```swift
        /// for await _ in await DispatchSource.signalEvents(signal: SIGTERM) { await server.stop() }
        /// ```
        ///
        /// If a signal is raised several times while no task waits, it is delivered once.
        ///
        /// On Linux, Dispatch replaces the signal's action with its own handler. This handler remains after the end of
        /// the iteration. A signal that is raised afterwards has no immediate effect. It is the first event of the next
        /// sequence for this signal.
        ///
        /// On Apple platforms, the signal's action is performed, too. If the action would end the process, call
        /// `signal(SIGTERM, SIG_IGN)` first.
        ///
        /// - Parameter signal: The number of the signal. `SIGKILL` and `SIGSTOP` stop the process with a message.
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
