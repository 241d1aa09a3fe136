// Threads of Darwin, Glibc, Musl and Android.

#if !os(Windows) && (!os(WASI) || _runtime(_multithreaded))
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Android)
        internal import Android
    #elseif canImport(WASILibc)
        internal import WASILibc
    #endif

    /// Starts a detached thread that calls `SystemThread.run`. Returns 0 or an error of the system.
    func startThread(stackSize: Int?, with pointer: UnsafeMutableRawPointer) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize {
            // The largest page of any supported system.
            let page = 1 << 14
            pthread_attr_setstacksize(&attributes, (stackSize + page - 1) / page * page)
        }
        var thread = noThread
        return pthread_create(&thread, &attributes, { runThread($0) }, pointer)
    }

    /// - Parameter pointer: Not nil. Whether it is optional in the C library's declaration depends on the platform.
    /// - Returns: An unused pointer, because the thread is detached. Android's NDK before 28 declares it not optional.
    private func runThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        SystemThread.run(pointer!)
        return pointer!
    }

    /// A lock on which threads can wait.
    final class SystemLock: @unchecked Sendable {  // Any thread may call these functions of the C library.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init() {
            pthread_mutex_init(mutex, nil)
            initialize(condition)
        }

        deinit {
            pthread_cond_destroy(condition)
            pthread_mutex_destroy(mutex)
            condition.deallocate()
            mutex.deallocate()
        }

        func lock() { pthread_mutex_lock(mutex) }

        func unlock() { pthread_mutex_unlock(mutex) }

        /// Unlocks, blocks until a wake, and locks again. The call may return before a wake.
        func wait() { pthread_cond_wait(condition, mutex) }

        /// Like `wait()`, but for at most `limit`.
        func wait(for limit: Duration) { TaskOperations.wait(for: condition, mutex, limit) }

        func wakeOne() { pthread_cond_signal(condition) }

        func wakeAll() { pthread_cond_broadcast(condition) }
    }
#endif
