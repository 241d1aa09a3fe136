internal import CExploration
internal import Glibc
internal import Synchronization

/// Runs the explorations of the process one at a time, because they share the globals of the explored code.
enum Explorations {
    private static let turn = Mutex(())
    private static let count = Atomic(0)

    static func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func withTurn<Result>(_ explore: () -> sending Result) -> sending Result {
        precondition(Jobs.isInstalled, "The runtime has no hook for the jobs of tasks.")
        explorationSetMutexWait { mutex, owner in
            ControlledThread.current?.turnstile.wait(for: mutex!, heldBy: owner) ?? false
        }
        Crash.catchAll()
        return turn.withLock { _ in explore() }
    }
}

/// Converts a crash of the process during a schedule, such as a trap or an invalid memory access, to a failure of the
/// schedule.
enum Crash {
    // Written once, while an exploration has the turn of `Explorations`.
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
                // The thread has caused the signal itself, so the signal interrupts only the thread's own code. The
                // thread's references are never released.
                thread.turnstile.crash(number)
                while true { pause() }
            }
        }
    }
}
