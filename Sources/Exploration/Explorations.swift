internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The explorations of the process. They run one at a time, because they share the globals of the explored code.
enum Explorations {
    private static let turn = Mutex(())
    private static let count = Atomic(0)

    static func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func withTurn<Result>(_ explore: () -> sending Result) -> sending Result {
        precondition(Jobs.isInstalled, "The runtime has no hook for the jobs of tasks.")
        Crash.catchAll()
        return turn.withLock { _ in explore() }
    }
}

/// Turns a crash of the process during a schedule, such as a trap or an invalid memory access, into a failure of the
/// schedule.
enum Crash {
    // Written once, under the turn of `Explorations`.
    nonisolated(unsafe) private static var isCaught = false

    static func catchAll() {
        if isCaught { return }
        isCaught = true
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
            signal(number) { number in
                guard let thread = ControlledThread.current else {
                    signal(number, SIG_DFL)
                    raise(number)
                    return
                }
                // The thread itself has caused the signal, so it is interrupted only in its own code. Its references
                // are never released.
                thread.turnstile.crash(number)
                while true { pause() }
            }
        }
    }
}
