import Foundation

/// Handles Ctrl-C. The signal is blocked in every thread, and one thread waits for it. So the reaction is ordinary
/// code, not a signal handler.
package enum Interruption {
    /// The exit code that a shell reports for a program that ended by Ctrl-C.
    package static let exitCode: Int32 = 130

    /// The time that cancelled work may take to end, in seconds.
    private static let grace: UInt32 = 10

    /// Blocks the signal, so that only `watch` receives it. Call it before a second thread exists, because threads
    /// inherit the mask.
    package static func hold() {
        var signals = set(of: SIGINT, SIGALRM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        // A shell makes background processes ignore the signal. An ignored signal is never received.
        signal(SIGINT, SIG_DFL)
    }

    /// Waits for the signal on a dedicated thread.
    ///
    /// - Parameters:
    ///   - cancel: Called at the first signal.
    ///   - leave: Called at a second signal, or if the process has not ended some time after the first.
    package static func watch(
        cancel: @escaping @Sendable () -> Void, leave: @escaping @Sendable () -> Never
    ) {
        Thread.detachNewThread {
            wait(for: set(of: SIGINT))
            cancel()
            alarm(grace)
            wait(for: set(of: SIGINT, SIGALRM))
            leave()
        }
    }

    private static func wait(for signals: sigset_t) {
        var signals = signals
        var received: CInt = 0
        while sigwait(&signals, &received) != 0 {}
    }

    private static func set(of signals: CInt...) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
