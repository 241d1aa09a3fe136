#if canImport(Darwin)
    internal import Darwin
    internal import ObjectiveC

    /// The number of active processors.
    let processorCount = max(1, Int(sysconf(_SC_NPROCESSORS_ONLN)))

    /// The initial value of a variable that `pthread_create` sets.
    var noThread: pthread_t? { nil }

    func number(of thread: pthread_t) -> UInt { UInt(bitPattern: thread) }

    /// Names the calling thread.
    func nameThread(_ name: String) { pthread_setname_np(name) }

    /// Performs work in a new autorelease pool.
    func withReleasePool(_ work: () -> Void) { autoreleasepool { work() } }

    func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) { pthread_cond_init(condition, nil) }

    /// Waits for a condition, but for at most `limit`.
    func wait(
        for condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        _ limit: Duration
    ) {
        let (seconds, attoseconds) = limit.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        pthread_cond_timedwait_relative_np(condition, mutex, &time)
    }
#endif
