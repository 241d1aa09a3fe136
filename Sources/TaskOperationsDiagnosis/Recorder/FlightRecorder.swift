internal import CTaskOperations
import Synchronization
public import TaskOperations

/// Records the changes of the operations of all queues. The cost is so low that a recorder can always be on.
///
/// ```swift
/// let recorder = FlightRecorder()                      // the last changes, in 4 MiB of memory
/// …
/// print(recorder.trace(last: .seconds(30)).explanation)
/// ```
///
/// A change takes a record of 32 bytes in a ring. When the ring is full, the oldest records are overwritten, and the
/// state of all unfinished operations is written again. An empty operation takes about a quarter longer.
///
/// With a file, the ring is in memory that the file maps. The kernel of the system keeps it when the process crashes or
/// is killed, and another process can read it at any time: `Trace(contentsOf:)`, `swift run tour watch FILE`.
///
/// The recorder records until `stop()`, also if the program keeps no reference to it. Several recorders can record at
/// once.
public final class FlightRecorder: Sendable {
    private let ring: ChangeRing
    private let triggers = Lock<TriggerWatch?>(nil)

    /// The smallest capacity in bytes.
    public static var minimumCapacity: Int { ChangeRing.minimumSize }

    private init(_ ring: ChangeRing, _ queues: [TaskOperationQueue]?) {
        self.ring = ring
        ring.start(on: queues?.map(\.scheduler))
    }

    /// Creates a recorder whose ring is in the memory of the process, and begins to record.
    ///
    /// - Parameters:
    ///   - queues: The queues to record; nil for all queues of the process, with those that are created later.
    ///   - capacity: The size of the ring in bytes, at least `minimumCapacity`. An operation takes about 100 bytes, and 150
    ///     with a name.
    public convenience init(of queues: [TaskOperationQueue]? = nil, capacity: Int = 4 << 20) {
        Self.check(capacity)
        guard let memory = taskOperationsZeroedMemory(capacity) else {
            fatalError(
                "there is no memory for a recorder of \(capacity) bytes; only one that writes to a file can grow")
        }
        let address = UInt(bitPattern: memory)
        let release: @Sendable () -> Void = { taskOperationsFree(UnsafeMutableRawPointer(bitPattern: address)!) }
        self.init(ChangeRing(memory, byteCount: capacity, release: release), queues)
    }

    /// Creates a recorder whose ring is in a file, and begins to record.
    ///
    /// The file is replaced if it exists. The file system must be a local one. The whole size is reserved, so that a full
    /// disk cannot stop the program. On Windows and WASI, a recorder cannot write to a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - queues: The queues to record; nil for all queues of the process, with those that are created later.
    ///   - capacity: The size of the ring in bytes, at least `minimumCapacity`. With `Int.max`, the file grows, by 4 MiB at
    ///     a time, and keeps all records. When the disk is full, later records are dropped.
    /// - Throws: `TraceError.file` if the file cannot be created or its size cannot be reserved.
    public convenience init(
        writingTo path: String, of queues: [TaskOperationQueue]? = nil, capacity: Int = 4 << 20
    ) throws(TraceError) {
        Self.check(capacity)
        self.init(try RecordedFile.ring(path, capacity: capacity), queues)
    }

    private static func check(_ capacity: Int) {
        require(
            capacity >= minimumCapacity,
            "the capacity of a recorder is \(capacity) bytes; it must be at least \(minimumCapacity).")
    }

    /// Ends the recording. The records remain, and their file is complete. A second call has no effect.
    public func stop() {
        let watch = triggers.withLock { $0.take() }
        watch?.stop()
        ring.stop()
    }

    /// The records of the ring as a trace. The recording continues. Takes time in proportion to the ring.
    ///
    /// - Parameter duration: The time before the call that the trace covers; nil for all that the ring contains.
    ///   Operations that ended before are not part of the trace.
    public func trace(last duration: Duration? = nil) -> Trace {
        ring.recordArrivals()
        let now = Ticks.pair
        // The ring of this process is always valid.
        let reader = try! RecordReader(ring.snapshot, path: "recorder", seenUntil: now.ticks, reading: now)
        return reader.trace(last: duration)
    }

    /// Writes the records of the ring to a file that `Trace(contentsOf:)` reads. An existing file is replaced when the new
    /// one is complete.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: `TraceError.file` if the file cannot be written.
    public func write(to path: String) throws(TraceError) {
        ring.recordArrivals()
        try RecordedFile.write(ring.snapshot, to: path)
    }
}

// MARK: - Triggers

extension FlightRecorder {
    /// An event at which a recorder writes its records to a file.
    public enum Trigger: Sendable, Hashable {
        /// An operation ended with `TaskOperationError.timedOut`.
        case timeout
        /// A queue has unfinished operations and is not suspended, and for this time no operation of any queue has changed.
        case stall(Duration)
        /// The process received a signal, such as `SIGTERM`, that has no handler yet. The records are written within the
        /// handler, and then the signal has its usual effect.
        case signal(Int32)
    }

    /// Writes the records to a file at each of some events. The file then shows the changes that led to the event.
    ///
    /// A thread looks for timeouts and stalls, ten times a second, while the recorder records. Each kind writes the file
    /// at most once in ten seconds. A second call replaces the triggers of the first, except signals.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which is replaced each time.
    ///   - triggers: The events.
    ///   - saved: Called on that thread after each file was written, with the trigger; not for signals.
    public func keep(
        at path: String, on triggers: Set<Trigger>, saved: @escaping @Sendable (Trigger) -> Void = { _ in }
    ) {
        for case .signal(let signal) in triggers { write(to: path, at: signal) }
        // The program may keep no reference to the recorder.
        let watch = TriggerWatch(triggers, ring) { [ring] trigger in
            ring.recordArrivals()
            guard (try? RecordedFile.write(ring.snapshot, to: path)) != nil else { return }
            saved(trigger)
        }
        let former = self.triggers.withLock { former in
            defer { former = watch }
            return former
        }
        former?.stop()
        watch.start()
    }

    private func write(to path: String, at signal: Int32) {
        // The handler uses the memory for ever.
        _ = Unmanaged.passRetained(ring)
        ring.withMemory { words, byteCount in
            let error = taskOperationsWriteAtSignal(signal, path, words, byteCount / 8)
            require(error == 0, "signal \(signal) cannot be handled, or the path is longer than 1,023 bytes.")
        }
    }
}

/// The thread that looks for triggers.
private final class TriggerWatch: Sendable {
    private let stallLimit: Duration?
    private let firesAtTimeouts: Bool
    /// The number of timeouts when the triggers were set. The thread may begin after later ones.
    private let firstTimeouts: Int
    private let ring: ChangeRing
    private let fire: @Sendable (FlightRecorder.Trigger) -> Void
    private let isOver = Monitor(false)

    init(
        _ triggers: Set<FlightRecorder.Trigger>, _ ring: ChangeRing,
        _ fire: @escaping @Sendable (FlightRecorder.Trigger) -> Void
    ) {
        stallLimit = triggers.compactMap { if case .stall(let limit) = $0 { limit } else { nil } }.min()
        firesAtTimeouts = triggers.contains(.timeout)
        firstTimeouts = ring.timeoutCount
        (self.ring, self.fire) = (ring, fire)
    }

    func start() {
        if stallLimit == nil, !firesAtTimeouts { return }
        _ = SystemThread.start(name: "flight recorder") { self.run() }
    }

    func stop() {
        isOver.withLock { $0 = true }
        isOver.wakeAll()
    }

    /// Values that change if an operation is added or ends.
    private struct Progress: Equatable {
        var added = 0
        var unfinished = 0
        /// Whether a queue that is not suspended has unfinished operations.
        var isExpected = false

        static var now: Progress {
            var progress = Progress()
            for scheduler in Scheduler.all {
                let counts = scheduler.counts
                progress.added += counts.added
                progress.unfinished += counts.unfinished
                if counts.unfinished > 0, !scheduler.isSuspended { progress.isExpected = true }
            }
            return progress
        }
    }

    private func run() {
        var (progress, since) = (Progress.now, ContinuousClock.now)
        var seenTimeouts = firstTimeouts
        var next: [FlightRecorder.Trigger: ContinuousClock.Instant] = [:]
        while isOver.wait(for: .milliseconds(100), until: { isOver, _ in isOver ? true : nil }) == nil {
            let now = ContinuousClock.now
            func fire(_ trigger: FlightRecorder.Trigger) {
                if let next = next[trigger], now < next { return }
                next[trigger] = now + .seconds(10)
                self.fire(trigger)
            }
            let timeouts = ring.timeoutCount
            if firesAtTimeouts, timeouts != seenTimeouts { fire(.timeout) }
            seenTimeouts = timeouts
            guard let stallLimit else { continue }
            let present = Progress.now
            if present != progress || !present.isExpected {
                (progress, since) = (present, now)
            } else if now - since >= stallLimit {
                fire(.stall(stallLimit))
            }
        }
    }
}
