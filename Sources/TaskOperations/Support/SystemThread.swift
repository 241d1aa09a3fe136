// Threads of the system, which the standard library does not have.

#if canImport(Darwin)
    internal import Darwin
    internal import ObjectiveC
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A thread of the system, detached: its memory is freed when it ends.
package enum SystemThread {
    /// What a thread does. It may block.
    package typealias Body = @Sendable () -> Void

    private final class Start: Sendable {
        let name: String
        let body: Body

        init(name: String, body: @escaping Body) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: What it is called; Linux keeps the first 15 bytes.
    ///   - stackSize: The size of its stack in bytes, rounded up to whole pages; nil for the system's own choice.
    ///   - body: What the thread does.
    /// - Returns: 0, or the system's reason not to start it: `EAGAIN` if there are too many threads or too little
    ///   memory.
    package static func start(name: String, stackSize: Int? = nil, body: @escaping Body) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize {
            // The largest page of any supported system.
            let page = 1 << 14
            pthread_attr_setstacksize(&attributes, (stackSize + page - 1) / page * page)
        }
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        let error = pthread_create(&thread, &attributes, { SystemThread.run($0) }, start.toOpaque())
        if error != 0 { start.release() }
        return error
    }

    /// Does work in a pool of its own for what Objective-C releases later, on platforms that have that.
    static func inReleasePool(_ work: () -> Void) {
        #if canImport(ObjectiveC)
            autoreleasepool { work() }
        #else
            work()
        #endif
    }

    /// - Parameter opaque: Not nil. Whether it is optional in the C library's declaration depends on the platform.
    private static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        // `start` retained the object for this one call.
        let start = Unmanaged<Start>.fromOpaque(opaque!).takeRetainedValue()
        setName(start.name)
        start.body()
        return nil
    }

    private static func setName(_ name: String) {
        #if canImport(Darwin)
            pthread_setname_np(name)
        #else
            // The C library declares `pthread_setname_np` only to programs that ask for more than the standard, and a
            // static program cannot look it up.
            guard let file = fopen("/proc/thread-self/comm", "w") else { return }
            fputs(name, file)
            fclose(file)
        #endif
    }
}

/// A value that only one thread at a time can reach, and on whose changes threads wait.
final class Monitor<Value: Sendable>: @unchecked Sendable {
    // Every access to `value` holds `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes a thread that waits, if one does. To be called without the lock.
    func wakeOne() {
        pthread_cond_signal(condition)
    }

    /// Wakes all threads that wait. To be called without the lock.
    func wakeAll() {
        pthread_cond_broadcast(condition)
    }

    /// Blocks the thread until `attempt` returns something.
    ///
    /// - Parameters:
    ///   - limit: How long to block at most; nil for ever.
    ///   - attempt: Called under the lock at first, after each time that the thread was woken, and last when the time
    ///     is up, which it is told.
    /// - Returns: What the attempt returned; nil if it returned nothing when the time was up.
    func wait<Result: Sendable>(
        for limit: Duration?, until attempt: (inout Value, _ isLate: Bool) -> Result?
    ) -> Result? {
        let deadline = limit.map { SystemTime(after: $0) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var isLate = false
        while true {
            if let result = attempt(&value, isLate) { return result }
            if isLate { return nil }
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            isLate = deadline.wait(for: condition, mutex)
        }
    }
}

/// A moment of the system's clock that never goes back.
private struct SystemTime {
    private var time = timespec()

    init(after duration: Duration) {
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = duration.saturated.components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        time.tv_sec += Int(min(seconds, 1_000_000_000)) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
    }

    /// Blocks until the condition is signalled or the moment has come. Returns whether it has.
    func wait(
        for condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>
    ) -> Bool {
        #if canImport(Darwin)
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            var rest = timespec(tv_sec: time.tv_sec - now.tv_sec, tv_nsec: time.tv_nsec - now.tv_nsec)
            if rest.tv_nsec < 0 { rest = timespec(tv_sec: rest.tv_sec - 1, tv_nsec: rest.tv_nsec + 1_000_000_000) }
            return rest.tv_sec < 0 || pthread_cond_timedwait_relative_np(condition, mutex, &rest) == ETIMEDOUT
        #else
            var time = time
            return pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT
        #endif
    }
}
