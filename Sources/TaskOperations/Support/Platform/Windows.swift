#if os(Windows)
    internal import WinSDK

    /// The number of active processors.
    let processorCount = max(1, Int(GetActiveProcessorCount(WORD(ALL_PROCESSOR_GROUPS))))

    /// Yields the processor to another thread that is ready to run.
    func yieldThread() { _ = SwitchToThread() }

    /// A number that identifies the calling thread; never 0.
    var currentThread: UInt { UInt(GetCurrentThreadId()) }

    /// A thread-local address. The address is nil until the thread sets it.
    struct ThreadAddress: Sendable {
        private let index: DWORD

        init() {
            index = TlsAlloc()
            precondition(index != DWORD.max, "no index for values of a thread is left")
        }

        var value: UnsafeMutableRawPointer? {
            get { TlsGetValue(index) }
            nonmutating set { _ = TlsSetValue(index, newValue) }
        }
    }

    /// Starts a detached thread that calls `SystemThread.run` with `pointer`. Returns 0, or the error code of the
    /// system.
    func startThread(stackSize: Int?, with pointer: UnsafeMutableRawPointer) -> Int32 {
        let thread = CreateThread(
            nil, SIZE_T(stackSize ?? 0),
            { pointer in
                SystemThread.run(pointer!)
                return 0
            }, pointer, DWORD(STACK_SIZE_PARAM_IS_A_RESERVATION), nil)
        guard let thread else { return Int32(bitPattern: GetLastError()) }
        _ = CloseHandle(thread)
        return 0
    }

    /// Names the calling thread.
    func nameThread(_ name: String) {
        _ = name.withCString(encodedAs: UTF16.self) { SetThreadDescription(GetCurrentThread(), $0) }
    }

    func withReleasePool(_ work: () -> Void) { work() }

    /// A lock with a condition for which threads can wait.
    final class SystemLock: @unchecked Sendable {  // Any thread may call these functions of the system.
        private let mutex = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)

        init() {
            InitializeSRWLock(mutex)
            InitializeConditionVariable(condition)
        }

        // Windows has no functions that destroy a lock or a condition.
        deinit {
            condition.deallocate()
            mutex.deallocate()
        }

        func lock() { AcquireSRWLockExclusive(mutex) }

        func unlock() { ReleaseSRWLockExclusive(mutex) }

        /// Unlocks, blocks until the thread is woken, and locks again. The call may also return without a wake.
        func wait() { _ = SleepConditionVariableSRW(condition, mutex, DWORD.max, 0) }

        /// Like `wait()`, but blocks for at most `limit`.
        func wait(for limit: Duration) {
            let milliseconds = limit / .milliseconds(1)
            // The number must be less than `DWORD.max`, which means no limit.
            _ = SleepConditionVariableSRW(condition, mutex, DWORD(min(milliseconds.rounded(.up), 4e9)), 0)
        }

        func wakeOne() { WakeConditionVariable(condition) }

        func wakeAll() { WakeAllConditionVariable(condition) }
    }
#endif
