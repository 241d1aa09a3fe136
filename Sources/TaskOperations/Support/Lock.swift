// On Linux, the thread sanitizer does not recognize the futex in `Synchronization.Mutex`. It therefore reports false
// races on the memory that a mutex protects. Only builds with the thread sanitizer define TASK_OPERATIONS_PTHREAD_LOCK.
#if TASK_OPERATIONS_PTHREAD_LOCK
    package final class Lock<Value: ~Copyable & Sendable>: @unchecked Sendable {
        // Every access to `value` holds `lock`.
        private let lock = SystemLock()
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
    /// functions with `package` access. Other modules of the package could not specialize a type of this module.
    /// Specialization saves a quarter of the instructions of a Foundation operation on a queue.
    package typealias Lock<Value: ~Copyable & Sendable> = Mutex<Value>
#endif
