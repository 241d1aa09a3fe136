#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

// On Linux, the thread sanitizer does not recognize the futex in `Synchronization.Mutex`. It therefore reports false
// races on the memory that a mutex protects. Only builds with the thread sanitizer define TASK_OPERATIONS_PTHREAD_LOCK.
#if TASK_OPERATIONS_PTHREAD_LOCK
    package final class Lock<Value: ~Copyable & Sendable>: @unchecked Sendable {
        // Every access to `value` holds `lock`.
        private let lock = ContendedLock()
        private var value: Value

        package init(_ value: consuming Value) {
            self.value = value
        }

        package func withLock<Result, Failure>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return try body(&value)
        }
    }
#else
    package import Synchronization

    /// A value that only one thread at a time can access. The body of `withLock` must not call user code, resume a
    /// continuation, or cancel a task.
    ///
    /// The type is a name for the type of the standard library, because Swift 6.3 does not export the bodies of
    /// functions with `package` access. Other modules of the package could not specialize a type of this module: Cost,
    /// row 6.
    package typealias Lock<Value: ~Copyable & Sendable> = Mutex<Value>
#endif

/// A value that only one thread at a time can access. Threads can wait for changes of the value.
package final class Monitor<Value: Sendable>: @unchecked Sendable {
    // Every access to `value` holds `lock`.
    private let lock = SystemLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }

    /// Wakes one waiting thread, if there is one. The caller must not hold the lock.
    package func wakeOne() { lock.wakeOne() }

    /// Wakes all waiting threads. The caller must not hold the lock.
    package func wakeAll() { lock.wakeAll() }

    /// Blocks the thread until `attempt` returns a value other than nil, or until the time is over.
    ///
    /// - Parameters:
    ///   - limit: The longest time to block; nil for no limit.
    ///   - attempt: Called under the lock at the beginning, after each wake, and when the time is over. `isLate` is
    ///     true only in the last case.
    /// - Returns: The value that `attempt` returned; nil if the time was over before.
    package func wait<Result: Sendable>(
        for limit: Duration?, until attempt: (inout Value, _ isLate: Bool) -> Result?
    ) -> Result? {
        let deadline = limit.map { ContinuousClock.now + min($0, .seconds(1_000_000_000)) }
        lock.lock()
        defer { lock.unlock() }
        var isLate = false
        while true {
            if let result = attempt(&value, isLate) { return result }
            if isLate { return nil }
            guard let deadline else {
                lock.wait()
                continue
            }
            let rest = deadline - .now
            if rest > .zero { lock.wait(for: rest) }
            isLate = deadline <= .now
        }
    }
}

#if canImport(Glibc) || canImport(Musl) || canImport(Android)
    /// A lock that several threads often request at the same time, such as the lock of a queue.
    ///
    /// On Linux, `Mutex` is a futex with priority inheritance. The kernel passes such a futex to the thread that has
    /// waited longest, and this thread must first wake. By contrast, a running thread can take a free lock of the C
    /// library at once: Cost, "Measured reasons".
    ///
    /// A thread tries to take the lock about 100 times before it sleeps. A thread usually holds a queue's lock for less
    /// time than another thread needs to sleep and wake: Cost, row 5.
    struct ContendedLock: ~Copyable, @unchecked Sendable {
        // Any thread may call these functions of the C library.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() { pthread_mutex_init(mutex, nil) }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        @inline(__always)
        func lock() {
            if pthread_mutex_trylock(mutex) != 0 { waitForLock() }
        }

        @inline(__always)
        func unlock() { pthread_mutex_unlock(mutex) }

        @inline(never)
        private func waitForLock() {
            for _ in 0..<100 where pthread_mutex_trylock(mutex) == 0 { return }
            pthread_mutex_lock(mutex)
        }
    }
#elseif canImport(Darwin)
    /// The lock that `Mutex` uses on this platform. `Mutex` itself has no separate calls to lock and unlock.
    struct ContendedLock: ~Copyable, @unchecked Sendable {
        // Any thread may call these functions of the system.
        private let unfair = UnsafeMutablePointer<os_unfair_lock_s>.allocate(capacity: 1)

        init() { unfair.initialize(to: os_unfair_lock_s()) }

        deinit { unfair.deallocate() }

        @inline(__always)
        func lock() { os_unfair_lock_lock(unfair) }

        @inline(__always)
        func unlock() { os_unfair_lock_unlock(unfair) }
    }
#else
    /// A lock that several threads often request at the same time.
    struct ContendedLock: ~Copyable, Sendable {
        private let system = SystemLock()

        func lock() { system.lock() }

        func unlock() { system.unlock() }
    }
#endif

extension ContendedLock {
    @inline(__always)
    borrowing func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
