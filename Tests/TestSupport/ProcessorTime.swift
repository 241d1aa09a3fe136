package import Simulation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Returns the calling thread's processor time for work that does not suspend. The time of other threads is not
/// included.
package func processorTime(_ work: () throws -> Void) rethrows -> Duration {
    let start = threadTime()
    try work()
    return threadTime() - start
}

/// Returns the processor time of a program of many tasks that all run on the calling thread.
package func processorTimeOnOneThread(
    _ work: @escaping @Sendable (_ executor: SeededExecutor) async throws -> Void
) throws -> Duration {
    try processorTime { try onOneThread(work) }
}

/// Runs a program of many tasks on the calling thread, so that `threadTime()` includes all of them.
package func onOneThread<Value: Sendable>(
    _ work: @escaping @Sendable (_ executor: SeededExecutor) async throws -> Value
) throws -> Value {
    let executor = SeededExecutor(seed: 1)
    return try executor.run { try await work(executor) }
}

/// The processor time of the calling thread so far.
package func threadTime() -> Duration {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    #else
        // Only tests of these platforms measure.
        return .zero
    #endif
}
