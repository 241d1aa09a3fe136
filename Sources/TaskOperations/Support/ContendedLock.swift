#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

#if !TASK_OPERATIONS_EXPLORED && (canImport(Glibc) || canImport(Musl) || canImport(Android))
    /// A lock that several threads often request at the same time, such as the lock of a queue.
    ///
    /// On Linux, `Mutex` is a futex with priority inheritance. The kernel passes such a futex to the thread that has
    /// waited longest, and this thread must first wake. By contrast, a running thread can take a free lock of the C
    /// library at once. In a measurement, eight threads added operations to one queue on two processors. Each operation
    /// took 2,000 to 14,800 ns with a `Mutex`, and 760 to 1,080 ns with this lock.
    ///
    /// A thread tries to take the lock about 100 times before it sleeps. A thread usually holds a queue's lock for less
    /// time than another thread needs to sleep and wake. The repeated tries save a third of the time of an empty
    /// operation.
    struct ContendedLock: ~Copyable, @unchecked Sendable {
        // Any thread may call these functions of the C library.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() { pthread_mutex_init(mutex, nil) }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        @inline(__always)
        func withLock<Result>(_ body: () -> Result) -> Result {
            lock()
            defer { pthread_mutex_unlock(mutex) }
            return body()
        }

        @inline(__always)
        private func lock() {
            if pthread_mutex_trylock(mutex) != 0 { waitForLock() }
        }

        @inline(never)
        private func waitForLock() {
            for _ in 0..<100 where pthread_mutex_trylock(mutex) == 0 { return }
            pthread_mutex_lock(mutex)
        }
    }
#else
    /// A lock that several threads often request at the same time.
    struct ContendedLock: ~Copyable, Sendable {
        private let lock = Lock(())

        @inline(__always)
        func withLock<Result: Sendable>(_ body: () -> Result) -> Result {
            lock.withLock { _ in body() }
        }
    }
#endif
