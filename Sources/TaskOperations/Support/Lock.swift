// The thread sanitizer on Linux does not see the futex in `Synchronization.Mutex` and reports races on the memory that
// it protects. Only builds with the thread sanitizer therefore define TASK_OPERATIONS_PTHREAD_LOCK.
#if TASK_OPERATIONS_PTHREAD_LOCK
    /// A value that only one thread at a time can reach.
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

/// A value that only one thread at a time can reach. User code is never called, a continuation never resumed and
/// a task never cancelled inside `withLock`.
///
/// It is public because only public code is specialized in other modules of the package: Swift 6.3 does not export the
/// bodies of `@inlinable` functions with `package` access. The specialization saves a quarter of the instructions of a
/// Foundation operation on a queue.
@frozen  // With library evolution, the body of an `@inlinable` initializer sets stored properties of frozen types only.
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
