internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The explorations of the process, one at a time: they share what the explored code keeps in globals.
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

/// Makes a failure of a schedule of what would end the process: a trap, or an access to memory that is not there.
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
                // The thread itself has caused the signal, so that it is in the middle of nothing but its own code. It
                // keeps what it has for ever.
                thread.turnstile.crash(number)
                while true { pause() }
            }
        }
    }
}
