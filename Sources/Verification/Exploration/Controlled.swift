// Replacements of locks, atomic variables, threads and clocks in a controlled build. Outside of a schedule, each works
// like the plain value that it holds, and only one thread may use it.

/// A value that only one thread at a time can access. Replaces `Mutex`.
public final class ControlledLock<Value: ~Copyable & Sendable>: SharedObject, @unchecked Sendable {
    // Only the owner accesses `value`, or the only thread outside of a schedule.
    private var value: Value

    public init(_ value: consuming Value, _ file: StaticString = #fileID, _ line: UInt = #line) {
        self.value = value
        super.init(kind: "lock", file: file, line: line)
    }

    public func withLock<Result: Sendable, Failure>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&value)
    }

    /// Takes the lock, until the same thread calls `unlock()`. Has no effect outside of a schedule.
    public func lock() { ControlledThread.current?.turnstile.reach(.acquire(self)) }

    public func unlock() { ControlledThread.current?.turnstile.release(self) }
}

/// The operations of a controlled thread, for the functions that replace those of the system.
public enum ControlledSystem {
    /// Whether the calling thread belongs to a schedule.
    public static var isControlled: Bool { ControlledThread.current != nil }

    /// Lets other threads run.
    public static func yield() {
        ControlledThread.current?.turnstile.reach(.yield)
    }

    /// Starts a thread. Returns false outside of a schedule.
    public static func startThread(_ body: @escaping () -> Void) -> Bool {
        guard let turnstile = ControlledThread.current?.turnstile else { return false }
        turnstile.makeThread("thread", body)
        return true
    }

    /// The value of a thread-specific key in the current thread; nil outside of a schedule.
    public static func specific(_ key: UInt) -> UnsafeMutableRawPointer? {
        ControlledThread.current?.specifics[key]
    }

    public static func setSpecific(_ key: UInt, _ value: UnsafeMutableRawPointer?) {
        ControlledThread.current?.specifics[key] = value
    }

    /// The number of the calling thread, from 1; 0 outside of a schedule.
    public static var threadNumber: UInt { ControlledThread.current.map { UInt($0.number + 1) } ?? 0 }
}

/// A value that only one thread at a time can access, and for whose changes threads can wait.
public final class ControlledMonitor<Value: Sendable>: SharedObject, @unchecked Sendable {
    private let lock: ControlledLock<Value>

    public init(_ value: Value, _ file: StaticString = #fileID, _ line: UInt = #line) {
        lock = ControlledLock(value, file, line)
        super.init(kind: "monitor", file: file, line: line)
    }

    public func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { lock.withLock(body) }

    public func wakeOne() { ControlledThread.current?.turnstile.notify(self, all: false) }

    public func wakeAll() { ControlledThread.current?.turnstile.notify(self, all: true) }

    public func wait<Result: Sendable>(
        for limit: Duration?, until attempt: (inout Value, _ isLate: Bool) -> Result?
    ) -> Result? {
        let turnstile = ControlledThread.current!.turnstile
        let deadline = limit.map { turnstile.now + $0 }
        var isLate = false
        while true {
            let thread = ControlledThread.current!
            let result = lock.withLock { value in
                let result = attempt(&value, isLate)
                if result == nil, !isLate { (thread.condition, thread.isNotified) = (self, false) }
                return result
            }
            if result != nil || isLate { return result }
            turnstile.reach(.wait(self, until: deadline))
            isLate = !thread.isNotified
        }
    }
}
