// In a controlled build, a schedule chooses the order of all steps that other threads could observe. The declarations
// in this file replace the locks, atomic variables, threads and clocks of the library. See the article Exploration.
#if TASK_OPERATIONS_EXPLORED
    public import Exploration
    internal import Glibc
    package import Synchronization

    package typealias Lock<Value: ~Copyable & Sendable> = ControlledLock<Value>
    package typealias Atomic<Value: AtomicRepresentable> = ControlledAtomic<Value>
    package typealias Monitor<Value: Sendable> = ControlledMonitor<Value>

    struct ContendedLock: ~Copyable, Sendable {
        private let controlled = Lock(())

        func lock() { controlled.lock() }

        func unlock() { controlled.unlock() }

        borrowing func withLock<Result>(_ body: () -> Result) -> Result {
            lock()
            defer { unlock() }
            return body()
        }
    }

    public typealias ContinuousClock = ControlledContinuousClock
    package typealias SystemThread = ControlledSystemThread

    // swift-format-ignore: AlwaysUseLowerCamelCase
    @discardableResult
    func sched_yield() -> Int32 {
        ControlledSystem.yield()
        return 0
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    func pthread_self() -> UInt { ControlledSystem.threadNumber }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { ControlledSystem.specific(UInt(key)) }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    @discardableResult
    func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 {
        ControlledSystem.setSpecific(UInt(key), UnsafeMutableRawPointer(mutating: value))
        return 0
    }

    extension Task where Success == Never, Failure == Never {
        package static func yield() async { await ControlledSystem.yieldTask() }

        package static func sleep(for duration: Duration) async throws {
            try await ContinuousClock().sleep(for: duration)
        }
    }
#endif
