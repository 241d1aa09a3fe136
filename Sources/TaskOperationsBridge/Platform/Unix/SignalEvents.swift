#if !os(Windows)
    public import Dispatch
    internal import Foundation
    internal import TaskOperations

    extension DispatchSource {
        /// Delivers a signal that the process gets, by its number. Returns when the signal is being caught.
        ///
        /// ```swift
        /// for await _ in await DispatchSource.signalEvents(signal: SIGTERM) { await server.stop() }
        /// ```
        ///
        /// A signal that comes again before it is taken is delivered once.
        ///
        /// On Linux, Dispatch puts its own handler in place of the signal's action, and leaves it there when the
        /// iteration is over: a signal that nobody iterates over is then ignored, and comes as the first event of the
        /// next sequence for it. On Apple platforms the signal's action takes place too; call `signal(SIGTERM, SIG_IGN)`
        /// first where it would end the process.
        ///
        /// - Parameter signal: The number of the signal, neither `SIGKILL` nor `SIGSTOP`.
        public static func signalEvents(signal: Int32) async -> DispatchSourceEvents<Int32> {
            var signals = sigset_t()
            require(
                sigaddset(&signals, signal) == 0 && signal != SIGKILL && signal != SIGSTOP,
                "There is no signal \(signal) that a process can catch.")
            let source = makeSignalSource(signal: signal, queue: bridgeQueue)
            let isRegistered = OneShot<Void>()
            source.setRegistrationHandler { @Sendable in isRegistered.provide(()) }
            let subscription = SourceSubscription(source, isWatched: true) { _ in signal }
            await isRegistered.value
            return DispatchSourceEvents(subscription)
        }
    }
#endif
