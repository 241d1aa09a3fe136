// Code for Glibc, Musl and Android.

#if os(Linux) || os(Android)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Android)
        internal import Android
    #endif

    #if canImport(Glibc)
        /// The number of active processors.
        let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        func number(of thread: pthread_t) -> UInt { UInt(thread) }
    #else
        /// The number of active processors.
        let processorCount = max(1, Int(sysconf(_SC_NPROCESSORS_ONLN)))

        func number(of thread: pthread_t) -> UInt { UInt(bitPattern: thread) }
    #endif

    // The initial value of a variable that `pthread_create` sets.
    #if canImport(Musl)
        var noThread: pthread_t? { nil }
    #else
        var noThread: pthread_t { 0 }
    #endif

    /// Names the calling thread.
    ///
    /// The function writes the name to a file of the kernel instead of calling `pthread_setname_np`. The C library
    /// declares `pthread_setname_np` only if a program requests extensions of the standard. A static program cannot
    /// look up that function at run time.
    func nameThread(_ name: String) {
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(name, file)
        fclose(file)
    }

    func withReleasePool(_ work: () -> Void) { work() }

    /// Initializes a condition that measures time with the monotonic clock.
    func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// Waits for a condition, but for at most `limit`.
    func wait(
        for condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
        _ limit: Duration
    ) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = limit.components
        let nanoseconds = Int(time.tv_nsec) + Int(attoseconds / 1_000_000_000)
        time.tv_sec += numericCast(Int(seconds) + nanoseconds / 1_000_000_000)
        time.tv_nsec = numericCast(nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
    }
#endif
