// In a controlled build, a schedule chooses the order of all steps that other threads could observe. The declarations
// in this file replace the locks, atomic variables, threads and clocks of the library. See the article Exploration.
#if TASK_OPERATIONS_EXPLORED
    package import Exploration
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

    /// A clock that shows the time of a schedule.
    public struct ContinuousClock: Clock {
        public struct Instant: InstantProtocol, Codable {
            let time: Duration

            public static var now: Instant { Instant(time: ControlledSystem.time) }

            public func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
            public func duration(to other: Instant) -> Duration { other.time - time }
            public static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
            public static func + (left: Instant, right: Duration) -> Instant { left.advanced(by: right) }
            public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }
        }

        public init() {}

        public static var now: Instant { .now }

        public var now: Instant { .now }

        public var minimumResolution: Duration { .nanoseconds(1) }

        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try await ControlledSystem.sleep(until: deadline.time)
        }
    }

    /// Starts threads that a schedule controls.
    package enum SystemThread {
        package static func start(
            name: String, stackSize: Int? = nil, body: @escaping @Sendable () -> Void
        ) -> Int32 {
            ControlledSystem.startThread(body) ? 0 : EAGAIN
        }

        package static func inReleasePool(_ work: () -> Void) { work() }
    }

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
        public static func yield() async { await ControlledSystem.yieldTask() }

        package static func sleep(for duration: Duration) async throws {
            try await ContinuousClock().sleep(for: duration)
        }
    }
#endif
