// On Linux, the thread sanitizer does not recognize the futex in `Synchronization.Mutex`. It therefore reports false
// races on the memory that a mutex protects. Only builds with the thread sanitizer define TASK_OPERATIONS_PTHREAD_LOCK.
#if TASK_OPERATIONS_PTHREAD_LOCK
    /// A value that only one thread at a time can access.
    @_spi(Lock) public final class LockStorage<Value: ~Copyable & Sendable>: @unchecked Sendable {
        // Every access to `value` holds `lock`.
        private let lock = SystemLock()
        private var value: Value

        public init(_ value: consuming Value) {
            self.value = value
        }

        public func withLock<Result, Failure>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return try body(&value)
        }
    }
#else
    public import Synchronization

    @_spi(Lock) public typealias LockStorage<Value: ~Copyable & Sendable> = Mutex<Value>
#endif

/// A value that only one thread at a time can access. The body of `withLock` must not call user code, resume a
/// continuation, or cancel a task.
///
/// The type is public so that other modules of the package can specialize it. Swift 6.3 does not export the bodies of
/// `@inlinable` functions with `package` access. Specialization saves a quarter of the instructions of a Foundation
/// operation on a queue.
@frozen  // With library evolution, only a frozen type can have an `@inlinable` initializer that sets properties.
@_spi(Lock) public struct Lock<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
    @usableFromInline let storage: LockStorage<Value>

    @inlinable public init(_ value: consuming Value) {
        storage = LockStorage(value)
    }

    @inlinable @inline(__always)
    public func withLock<Result: Sendable, Failure>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withLock { value throws(Failure) in try body(&value) }
    }
}
