extension Patterns {
    /// Locks of every kind, and the state that they protect.
    static let locks: [Pattern] = [
        Pattern(
            "lock-two-sections", .locks, "A check and an action in two critical sections",
            recipe: "Threads/UnguardedState", .thought, .state,
            "One method of an actor, without an await in it. Other code can run between the two.", .analysis),
        Pattern(
            "lock-cached", .locks, "A value that is computed once behind a lock", recipe: "Dispatch/dispatch_once",
            .callers, .state, "A static let, a lazy value of an actor, or an AsyncLazy.", .analysis),
        Pattern(
            "lock-synchronized-function", .locks, "A recursive lock as @synchronized",
            recipe: "Threads/objc_sync_enter", .thought, .state,
            "A Mutex with methods that do not call each other, or an actor.", .made([.recursiveLock])),
        Pattern(
            "lock-made", .locks, "NSLock", recipe: "Threads/NSLock", .callers, .state, "A Mutex, or an actor.",
            .made([.lock])),
        Pattern(
            "lock-condition", .locks, "NSCondition, pthread_cond_t", recipe: "Threads/NSCondition", .thought, .state,
            "An actor that keeps continuations, or an AsyncStream.", .made([.condition, .conditionVariable]),
            .function(["pthread_cond_init"])),
        Pattern(
            "lock-condition-order", .locks, "NSConditionLock, or a condition that orders threads",
            recipe: "Threads/NSConditionLock", .thought, .state, "Dependencies, or after:.", .made([.conditionLock]),
            .member(
                ["lock", "unlock", "condition", "tryLock", "lockWhenCondition", "unlockWithCondition"],
                of: [.conditionLock])),
        Pattern(
            "lock-condition-in-order", .locks, "Threads that wait for their number", recipe: "Threads/NSConditionLock",
            .thought, .state, "Dependencies, or after:.", .analysis),
        Pattern(
            "lock-distributed", .locks, "NSDistributedLock",
            recipe: "TaskOperations.docc/Members#threads-locks-timers-and-run-loops", .kept, .state,
            "It excludes other processes: keep it, and call it in a body. Within one process use .limit(_:).",
            .made([.distributedLock]),
            .member(["lock", "try", "unlock", "break", "tryLock"], of: [.distributedLock]),
            .named([.distributedLock]),
            .function(["flock"], when: [.called, .mentions("LOCK_EX")]),
            .function(["flock"], when: [.called, .mentions("LOCK_SH")]),
            .function(["fcntl"], when: [.called, .mentions("F_SETLK")]),
            .function(["fcntl"], when: [.called, .mentions("F_SETLKW")]),
            .function(["lockf"], when: [.called, .free])),
        Pattern(
            "lock-allocated", .locks, "OSAllocatedUnfairLock", recipe: "Threads/NSLock", .kept, .state,
            "Keep it until all systems have a Mutex.", .made([.unfairLock]),
            .member(
                [
                    "lock", "unlock", "withLock", "withLockUnchecked", "withLockIfAvailable",
                    "withLockIfAvailableUnchecked", "lockIfAvailable",
                ], of: [.unfairLock]), .named([.unfairLock])),
        Pattern(
            "lock-unfair", .locks, "os_unfair_lock, OSSpinLock", recipe: "Threads/NSLock",
            .callers, .state, "A Mutex, or an actor.", .made([.unfairLockStructure]),
            .member(["allocate"], of: [.unfairLockStructure]),
            .function([
                "os_unfair_lock_lock", "os_unfair_lock_unlock", "os_unfair_lock_trylock", "OSSpinLockLock",
                "OSSpinLockUnlock", "OSSpinLockTry",
            ])),
        Pattern(
            "lock-pthread", .locks, "pthread_mutex_t, pthread_rwlock_t", recipe: "Threads/NSLock", .callers, .state,
            "A Mutex, or an actor; for readers and writers an actor, or addBarrier.", .made([.mutex, .readWriteLock]),
            .function([
                "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock",
                "pthread_mutex_destroy", "pthread_rwlock_init", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
                "pthread_rwlock_unlock", "pthread_rwlock_destroy",
            ])),
        Pattern(
            "lock-synchronized", .locks, "@synchronized, objc_sync_enter", recipe: "Threads/objc_sync_enter", .callers,
            .state, "A Mutex, or an actor.", .function(["objc_sync_enter", "objc_sync_exit"])),
        Pattern(
            "lock-without-defer", .locks, "lock() whose unlock() is not in a defer", recipe: "Threads/NSLock", .callers,
            .state, "withLock of a Mutex unlocks it on every path.", .analysis),
        Pattern(
            "lock-condition-used", .locks, "lock, wait, signal of a condition", recipe: "Threads/NSCondition", .callers,
            .state, "Changes with the condition.",
            .member(
                ["lock", "unlock", "wait", "signal", "broadcast", "withLock", "try", "waitUntilDate"], of: [.condition]),
            .function([
                "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_signal", "pthread_cond_broadcast",
                "pthread_cond_destroy",
            ])),
        Pattern(
            "lock-used", .locks, "lock(), unlock(), withLock", recipe: "Threads/NSLock", .rote, .state,
            "Changes with the lock: withLock of a Mutex.",
            .member(
                ["lock", "unlock", "try", "withLock", "tryLock"], of: [.lock, .recursiveLock])),
        Pattern(
            "lock-atomic", .locks, "OSAtomic, atomic_ functions of C", recipe: "Threads/NSLock", .callers, .state,
            "An Atomic of Synchronization, or a Mutex.", .function(atomicFunctions, when: [.called])),
        Pattern(
            "lock-cpp", .locks, "Locks, threads and atomics of C++", recipe: Pattern.objectiveCRecipe, .kept, .state,
            "They belong to the C++ code, and may stay. Call code that blocks in a body with a BlockingExecutor.",
            .function(
                [
                    "mutex", "recursive_mutex", "timed_mutex", "recursive_timed_mutex", "shared_mutex",
                    "shared_timed_mutex", "lock_guard", "unique_lock", "scoped_lock", "shared_lock",
                    "condition_variable", "condition_variable_any", "atomic", "atomic_flag", "atomic_bool",
                    "atomic_int", "thread", "jthread", "async", "future", "promise", "call_once", "once_flag",
                    "counting_semaphore", "binary_semaphore", "latch",
                ], when: [.qualified("std")])),
        Pattern(
            "lock-type", .locks, "Lock as a type", recipe: "Threads/NSLock", .rote, .state,
            "Changes with the lock: a Mutex that contains the guarded state.",
            .named([
                .lock, .recursiveLock, .condition, .conditionLock, .unfairLockStructure, .mutex,
                .readWriteLock, .conditionVariable,
            ])),
    ]

    private static let atomicFunctions: [String] = {
        let operations = ["Add", "Increment", "Decrement", "CompareAndSwap"]
        let swaps = operations.flatMap { name in ["32", "64", "Int", "Long", "Ptr"].map { "OSAtomic\(name)\($0)" } }
        let names = [
            "load", "store", "exchange", "compare_exchange_strong", "compare_exchange_weak", "fetch_add", "fetch_sub",
            "fetch_or", "fetch_and", "fetch_xor", "flag_test_and_set", "flag_clear",
        ].map { "atomic_\($0)" }
        return swaps + swaps.map { "\($0)Barrier" } + names + names.map { "\($0)_explicit" }
            + ["OSAtomicTestAndSet", "OSMemoryBarrier", "atomic_init", "atomic_thread_fence"]
    }()

    /// Systems that consist of several patterns.
    static let systems: [Pattern] = [
        Pattern(
            "system-downloader", .systems, "A table of running operations", recipe: "Systems/ImageDownloader",
            .thought, .graphs, "KeyedOperations.", .analysis),
        Pattern(
            "system-manager", .systems, "A shared manager that downloads batches", recipe: "Systems/PhotoManager",
            .thought, .graphs, "An actor, and a scope for a batch.", .analysis),
        Pattern(
            "system-sellers", .systems, "Threads that share a stock behind a lock", recipe: "Systems/TicketOffice",
            .thought, .state, "An actor.", .analysis),
        Pattern(
            "system-queue-per-key", .systems, "A queue for each key", recipe: "Systems/Crawler", .thought, .queues,
            "One queue, and .limit(_:key:) with a semaphore that has a capacity for each key.", .analysis),
        Pattern(
            "system-list-per-key", .systems, "A list of work for each key", recipe: "Systems/Tenants", .thought,
            .queues,
            "One queue, and .limit(_:key:) with a semaphore that serves keys by their shares.", .analysis),
        Pattern(
            "system-home-made-queue", .systems, "Home-made queue: a list of work behind a lock or a queue",
            recipe: "Threads/ThreadWithList", .thought, .queues, "A TaskOperationQueue takes its place.", .analysis),
    ]

    /// Findings of strict checking.
    static let checking: [Pattern] = [
        Pattern(
            "checking-result", .checking, "Result of an operation that is not Sendable",
            recipe: "Migration#step-0-whatever-you-have", .callers, .checking,
            "The result of a body must be Sendable.", .analysis),
        Pattern(
            "checking-closure", .checking, "Stored closure that is called on a queue",
            recipe: "Migration#messages-of-the-compiler-during-the-port", .callers, .checking,
            "Make it @Sendable, and its captures Sendable.", .analysis),
        Pattern(
            "checking-isolated-callback", .checking, "Code of the main actor that another queue calls",
            recipe: "TaskOperations.docc/CrashesAfterThePort#isolated-callbacks", .rote, .checking,
            "It compiles, and stops the process in the Swift 6 mode. Write @Sendable in the closure, or nonisolated before the method, and return to the actor by await.",
            .analysis),
        Pattern(
            "checking-static", .checking, "static var without a lock",
            recipe: "Migration#messages-of-the-compiler-during-the-port", .rote, .checking,
            "static let, an actor, a Mutex, or @MainActor.", .analysis),
        Pattern(
            "checking-global", .checking, "Global var without a lock",
            recipe: "Migration#messages-of-the-compiler-during-the-port", .rote, .checking,
            "A let, an actor, a Mutex, or @MainActor; nonisolated(unsafe) if only its address is used, as a key.",
            .analysis),
        Pattern(
            "checking-open-class", .checking, "Open class with variables",
            recipe: "Migration#messages-of-the-compiler-during-the-port", .callers, .checking,
            "It cannot be Sendable, because a subclass could add state. Make it final, or isolate it.", .analysis),
        Pattern(
            "checking-unchecked", .checking, "@unchecked Sendable", recipe: "Migration#how-to-tell-that-you-are-done",
            .callers, .checking, "The compiler does not check it. State in a comment why it is correct, or remove it.",
            .analysis),
        Pattern(
            "checking-unsafe", .checking, "nonisolated(unsafe)", recipe: "Migration#how-to-tell-that-you-are-done",
            .callers, .checking, "The compiler does not check it. State in a comment why it is correct, or remove it.",
            .analysis),
    ]

    /// Remains and mistakes in code that has moved.
    static let ported: [Pattern] = [
        Pattern(
            "ported-await-on-width-1", .ported, "await of an operation in a body of a queue of width 1",
            recipe: "Operations/SerialOperationQueue", .thought, .bridge,
            "The body lends its permit during the wait: do not leave state half changed across it.", .analysis),
        Pattern(
            "ported-blocking-body", .ported, "Blocking call in a body", recipe: "Operations/BlockingOperations",
            .callers, .bridge, "It occupies a thread of the cooperative pool: use a BlockingExecutor.", .analysis),
        Pattern(
            "ported-blocking-pool", .ported, "Blocking wait that async code reaches",
            recipe: "TaskOperations.docc/CrashesAfterThePort#blocking-waits-in-the-pool", .callers, .bridge,
            "It holds a thread of the cooperative pool, or the main thread, until other code runs: await, or a BlockingExecutor.",
            .analysis),
        Pattern(
            "ported-ignored-outcome", .ported, "Operation that can fail, and whose outcome is not used",
            recipe: "Operations/ErrorProperty", .rote, .bridge,
            "try await its value, add a completion handler, or write _ = if an error does not matter.", .analysis),
        Pattern(
            "ported-bridged-queue", .ported, "BridgedOperationQueue", recipe: "Migration#a-bridged-queue", .callers,
            .bridge, "A TaskOperationQueue when no old operation is added any more.", .made([.bridgedQueue]),
            .function(["BridgedOperationQueue"])),
        Pattern(
            "ported-blocking-wait", .ported, "waitUntilFinishedBlocking", recipe: "Operations/waitUntilFinished",
            .thought, .callers, "await, when the caller is async.",
            .function(["waitUntilFinishedBlocking", "waitUntilAllOperationsAreFinishedBlocking"])),
        Pattern(
            "ported-legacy-dependencies", .ported, "asTaskOperation, asOperation",
            recipe: "Operations/addDependency", .rote, .bridge, "dependencies:, when the other end has moved.",
            .function(["asTaskOperation", "asOperation"])),
    ]
}
