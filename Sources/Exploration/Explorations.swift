#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Synchronization

/// The explorations of the process, one at a time: they share what the explored code keeps in globals.
enum Explorations {
    private static let turn = Mutex(())
    private static let count = Atomic(0)

    static func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func withTurn<Result>(_ explore: () -> sending Result) -> sending Result {
        precondition(Jobs.isInstalled, "The runtime has no hook for the jobs of tasks.")
        CrashReport.install()
        return turn.withLock { _ in explore() }
    }
}

/// Prints the schedule in which the process crashes.
enum CrashReport {
    // Written by the thread that explores; read when nothing else matters any more.
    nonisolated(unsafe) private static var running: (program: String, turnstile: Turnstile)?
    nonisolated(unsafe) private static var isInstalled = false

    static func begin(_ program: String, _ turnstile: Turnstile) { running = (program, turnstile) }

    static func end() { running = nil }

    static func install() {
        if isInstalled { return }
        isInstalled = true
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
            signal(number) { number in
                CrashReport.write()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    private static func write() {
        guard ControlledThread.current != nil, let (program, turnstile) = running else { return }
        let line = "\nThe process ends in a schedule. Repeat it with EXPLORED_SCHEDULE=\"\(program)@\(turnstile.choices)\"\n"
        line.withCString { _ = Self.write($0) }
    }

    private static func write(_ line: UnsafePointer<CChar>) -> Int {
        #if canImport(Darwin)
            Darwin.write(STDERR_FILENO, line, strlen(line))
        #elseif canImport(Glibc)
            Glibc.write(STDERR_FILENO, line, strlen(line))
        #elseif canImport(Musl)
            Musl.write(STDERR_FILENO, line, strlen(line))
        #endif
    }
}
