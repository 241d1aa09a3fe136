import Synchronization
import TaskOperations

/// A bounded set of threads that perform work from one or more lanes.
///
/// The set starts a thread if there is work and no idle thread. A thread ends after some idle time, or when the set is
/// closed and all work is done. If the system refuses to start a thread, the existing threads perform the work. The set
/// tries the start again later.
package final class WorkerThreads: Sendable {
    /// The work of a thread. It may block.
    package typealias Work = @Sendable () -> Void

    private static let mark = ThreadMark()

    private let name: String
    private let idleTime: Duration?
    private let startThread: @Sendable (_ body: @escaping Work) -> Int32
    private let state: Monitor<WorkerThreadsState<Work>>
    private let mainLane: Int
    private let isRetrying = Lock(false)

    /// - Parameters:
    ///   - name: The name of the threads.
    ///   - maxCount: The maximum number of threads.
    ///   - stackSize: The size of a thread's stack in bytes, from 65,536 to 1,073,741,824. Nil selects the default size
    ///     of the system. Any other size stops the process with a message.
    ///   - idleTime: The time in seconds after which an idle thread ends. If nil, idle threads do not end.
    package convenience init(name: String, maxCount: Int, stackSize: Int? = nil, idleTime: Double?) {
        if let stackSize {
            require(
                (1 << 16...1 << 30).contains(stackSize),
                "stackSize is \(stackSize); it must be from 65536 to 1073741824 bytes.")
        }
        self.init(name: name, maxCount: maxCount, idleTime: idleTime) { body in
            SystemThread.start(name: name, stackSize: stackSize, body: body)
        }
    }

    /// - Parameter startThread: Starts a thread. Returns 0, or the system's error code.
    init(
        name: String, maxCount: Int, idleTime: Double?,
        startThread: @escaping @Sendable (_ body: @escaping Work) -> Int32
    ) {
        self.name = name
        self.idleTime = idleTime.map { .seconds($0) }
        self.startThread = startThread
        var state = WorkerThreadsState<Work>(maxCount: maxCount)
        mainLane = state.makeLane(maxCount: maxCount)
        self.state = Monitor(state)
    }

    /// The number of threads, including threads that are about to be started.
    package var count: Int { state.withLock { $0.existing } }

    /// Whether the calling thread belongs to this set.
    package var containsCurrent: Bool { Self.mark.isSet(to: ObjectIdentifier(self)) }

    /// Whether `close` was called.
    package var isClosing: Bool { state.withLock { $0.isClosed } }

    /// Appends work to the default lane. Returns false if the set is closed and its threads have ended.
    package func submit(_ work: @escaping Work) -> Bool { submit(work, to: mainLane) }

    /// Submits work that may hold the last reference to the owner of this set. The runtime does not retain an executor
    /// while it calls `enqueue`. The caller must not use the owner afterwards.
    package func submitOutlivingOwner(_ work: @escaping Work) -> Bool {
        // The work may release the owner, and with it this object, before `submit` returns.
        let threads = Unmanaged.passRetained(self)
        defer { threads.release() }
        return submit(work)
    }

    /// Makes the threads end when all work is done.
    ///
    /// - Parameter ended: Called once, by the last thread before it ends. If there is no thread, `close` calls it.
    package func close(ended: Work? = nil) {
        let handlers = state.withLock { $0.close(ended: ended) }
        state.wakeAll()
        for handler in handlers { handler() }
    }
}

// MARK: - Lanes

extension WorkerThreads {
    /// A lane of work. It occupies a limited number of the threads, and takes turns with other lanes. Submitted work is
    /// performed even if the lane is released meanwhile.
    package final class Lane: Sendable {
        private let threads: WorkerThreads
        private let number: Int

        fileprivate init(_ threads: WorkerThreads, _ number: Int) {
            self.threads = threads
            self.number = number
        }

        deinit { threads.state.withLock { $0.releaseLane(number) } }

        /// Appends work to the lane. Returns false if the set is closed and its threads have ended.
        package func submit(_ work: @escaping Work) -> Bool { threads.submit(work, to: number) }
    }

    /// Creates a lane.
    ///
    /// - Parameter maxCount: The maximum number of threads that the work of the lane occupies, at least 1.
    package func makeLane(maxCount: Int) -> Lane {
        Lane(self, state.withLock { $0.makeLane(maxCount: maxCount) })
    }

    private func submit(_ work: @escaping Work, to lane: Int) -> Bool {
        let (isTaken, mustStart) = state.withLock { state in
            if state.hasEnded { return (false, false) }
            state.submit(work, to: lane)
            return (true, state.beginThread())
        }
        if mustStart { start() } else if isTaken { state.wakeOne() }
        return isTaken
    }
}

// MARK: - Threads

extension WorkerThreads {
    /// Starts a thread that `beginThread` has counted.
    private func start() {
        let error = startThread { [self] in serve() }
        if error == 0 { return }
        state.withLock { $0.threadFailed() }
        let isFirst = isRetrying.withLock { isRetrying in
            defer { isRetrying = true }
            return !isRetrying
        }
        guard isFirst else { return }
        MisuseReport.report(
            "Could not start a thread for \"\(name)\" (error \(error)). Its work waits for a free thread.")
        Task.detached { await self.retry() }
    }

    /// Starts threads until no thread is missing. Pauses after each refusal of the system.
    private func retry() async {
        var pause = Duration.milliseconds(1)
        while state.withLock({ $0.beginThread() }) {
            if startThread({ [self] in serve() }) == 0 { continue }
            state.withLock { $0.threadFailed() }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
        isRetrying.withLock { $0 = false }
        // Work may have been submitted between the last check and the reset of `isRetrying`.
        if state.withLock({ $0.beginThread() }) { start() }
    }

    private func serve() {
        Self.mark.set(to: ObjectIdentifier(self))
        while let (work, lane) = next() {
            SystemThread.inReleasePool(work)
            state.withLock { $0.workEnded(in: lane) }
        }
    }

    /// Waits for work. Returns nil if the thread must end. Such a thread is no longer counted, so that later work can
    /// start another thread.
    private func next() -> (work: Work, lane: Int)? {
        var wasIdle = false
        let next = state.wait(for: idleTime) { state, isLate in
            defer { wasIdle = true }
            return state.next(wasIdle: wasIdle, isLate: isLate)
        }
        switch next! {
        case .work(let work, let lane): return (work, lane)
        case .end(let handlers):
            for handler in handlers { handler() }
            return nil
        }
    }
}
