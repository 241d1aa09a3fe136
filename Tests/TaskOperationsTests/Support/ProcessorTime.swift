#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the calling thread has computed during something that does not suspend; other threads do not count.
func processorTime(_ work: () -> Void) -> Duration {
    let start = threadTime()
    work()
    return threadTime() - start
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
