// Threads and locks for all platforms with POSIX threads.

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

    /// Starts a detached thread that calls `SystemThread.run` with `pointer`. Returns 0, or the error code of the
    /// system.
    func startThread(stackSize: Int?, with pointer: UnsafeMutableRawPointer) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize {
            // Darwin accepts only whole pages. The largest pages of Darwin have this size in bytes.
            let page = 1 << 14
            pthread_attr_setstacksize(&attributes, (stackSize + page - 1) / page * page)
        }
        var thread = noThread
        return pthread_create(&thread, &attributes, { runThread($0) }, pointer)
    }

    /// - Parameter pointer: Never nil. Some platforms declare an optional pointer.
    /// - Returns: A pointer that no thread reads, because the thread is detached. The result is not optional, because
    ///   Android's NDK before version 28 requires this.
    private func runThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        SystemThread.run(pointer!)
        return pointer!
    }

    /// A lock with a condition for which threads can wait.
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

        /// Unlocks, blocks until the thread is woken, and locks again. The call may also return without a wake.
        func wait() { pthread_cond_wait(condition, mutex) }

        /// Like `wait()`, but blocks for at most `limit`.
        func wait(for limit: Duration) { TaskOperations.wait(for: condition, mutex, limit) }

        func wakeOne() { pthread_cond_signal(condition) }

        func wakeAll() { pthread_cond_broadcast(condition) }
    }
#endif
