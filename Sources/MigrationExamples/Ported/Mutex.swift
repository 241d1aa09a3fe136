#if TASK_OPERATIONS_PTHREAD_LOCK
    @_spi(Lock) import TaskOperations

    /// Takes the place of the one in `Synchronization`, whose futex the thread sanitizer does not see.
    final class Mutex<Value: Sendable>: Sendable {
        private let storage: LockStorage<Value>

        init(_ value: Value) {
            storage = LockStorage(value)
        }

        func withLock<Result, Failure>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try storage.withLock(body)
        }
    }
#endif
