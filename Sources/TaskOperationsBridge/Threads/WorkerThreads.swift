internal import Foundation

/// A bounded set of threads that take work from one line. A thread is started when there is work and no idle one,
/// and ends when it was idle for a while, or when the set is closed and the line is empty.
final class WorkerThreads: @unchecked Sendable {  // All that changes is behind `condition`.
    /// What a thread does. It may block.
    typealias Work = @Sendable () -> Void

    private let name: String
    private let maxCount: Int
    private let stackSize: Int?
    private let idleTime: TimeInterval?
    private let condition = NSCondition()
    private var line = WorkLine<Work>()
    private var existing = 0
    private var idle = 0
    private var serving: Set<ObjectIdentifier> = []
    private var isClosed = false
    private var whenEnded: [Work] = []

    /// - Parameters:
    ///   - name: What the threads are called.
    ///   - maxCount: How many there are at most.
    ///   - stackSize: The bytes of a thread's stack; nil for the system's own choice.
    ///   - idleTime: The seconds after which an idle thread ends; nil to keep it.
    init(name: String, maxCount: Int, stackSize: Int? = nil, idleTime: TimeInterval?) {
        self.name = name
        self.maxCount = maxCount
        self.stackSize = stackSize
        self.idleTime = idleTime
    }

    /// How many threads there are.
    var count: Int { condition.withLock { existing } }

    /// Whether the calling thread is one of these.
    var containsCurrent: Bool {
        let current = ObjectIdentifier(Thread.current)
        return condition.withLock { serving.contains(current) }
    }

    /// Whether `close` was called.
    var isClosing: Bool { condition.withLock { isClosed } }

    /// Puts work at the end of the line. Returns false where the set is closed and its threads have ended.
    func submit(_ work: @escaping Work) -> Bool {
        let (isTaken, mustStart) = condition.withLock { () -> (Bool, Bool) in
            if isClosed && existing == 0 { return (false, false) }
            line.append(work)
            let mustStart = line.count > idle && existing < maxCount
            if mustStart { existing += 1 } else { condition.signal() }
            return (true, mustStart)
        }
        if mustStart { startThread() }
        return isTaken
    }

    /// Submits work for an owner that the work itself may be the last to hold, as the runtime does not hold an
    /// executor while it calls `enqueue`. The caller must not use the owner afterwards.
    func submitOutlivingOwner(_ work: @escaping Work) -> Bool {
        // Retained before the work can run and released after, so that it is there for all of the call.
        let threads = Unmanaged.passRetained(self)
        defer { threads.release() }
        return submit(work)
    }

    /// Has the threads end once the line is empty.
    ///
    /// - Parameter ended: Called once when the last one has ended, on its thread, or within this call.
    func close(ended: Work? = nil) {
        let hasEnded = condition.withLock {
            isClosed = true
            condition.broadcast()
            let hasEnded = existing == 0 && serving.isEmpty
            if !hasEnded, let ended { whenEnded.append(ended) }
            return hasEnded
        }
        if hasEnded { ended?() }
    }
}

// MARK: - A thread

extension WorkerThreads {
    private func startThread() {
        Thread.start(name: name, stackSize: stackSize) { [self] in serve() }
    }

    private func serve() {
        let thread = ObjectIdentifier(Thread.current)
        condition.withLock { _ = serving.insert(thread) }
        while let work = next() {
            #if canImport(ObjectiveC)
                autoreleasepool { work() }
            #else
                work()
            #endif
        }
        for action in leave(thread) { action() }
    }

    /// Waits for work. Returns nil where the thread is to end; it does not count as existing any more then, so that
    /// work which comes from now on gets another one.
    private func next() -> Work? {
        condition.withLock {
            let end = idleTime.map { Date(timeIntervalSinceNow: $0) }
            var isLate = false
            while true {
                if let work = line.popFirst() { return work }
                if isClosed || isLate {
                    existing -= 1
                    return nil
                }
                idle += 1
                if let end { isLate = !condition.wait(until: end) } else { condition.wait() }
                idle -= 1
            }
        }
    }

    /// Returns what waited for this end.
    private func leave(_ thread: ObjectIdentifier) -> [Work] {
        condition.withLock {
            serving.remove(thread)
            if !isClosed || existing > 0 || !serving.isEmpty { return [] }
            defer { whenEnded = [] }
            return whenEnded
        }
    }
}
