internal import TaskOperations
import TaskOperationsExtras

/// The thread of a journal. It performs all calls of the system that change files. Callers wait for it without blocking
/// a thread of the cooperative pool.
final class JournalWriter {
    let store: JournalStore
    private let lock: JournalFile
    private var segment: JournalFile
    private var number: UInt32
    /// The size of the segment.
    private var end: Int
    /// The sizes of the complete segments.
    private var sizes: [UInt32: Int]
    private var buffer: [UInt8] = []
    private var isSynchronized = true
    private var synchronizationFailed = false
    private var lastSynchronization = ContinuousClock.now
    /// The duration of the last synchronization, and the number of callers that can share the next one.
    private var synchronization = (time: Duration.zero, callers: 0)
    private var compaction: JournalCompaction?
    private var compactionWaiters: [CheckedContinuation<[UInt8], any Error>] = []
    /// Whether a compaction must succeed before a caller uses the journal.
    private var mustCompact = false
    /// The size of the files at which the next compaction may begin.
    private var nextCompaction = 0

    private var configuration: JournalConfiguration { store.configuration }
    private var fault: FileFault { configuration.fault }

    init(_ opened: OpenedJournal) {
        (store, lock) = (opened.store, opened.lock)
        (segment, number, end) = (opened.segment, opened.number, opened.end)
        sizes = opened.sizes
    }

    /// Copies all deliveries if the last process has failed to synchronize them.
    func rewriteIfNeeded(_ opened: OpenedJournal) throws(JournalError) {
        if !opened.mustRewrite { return }
        mustCompact = true
        while mustCompact { try compactFurther() }
        try JournalFile.remove(JournalPath.mark(in: store.directory), fault)
    }

    /// Serves requests until the journal is closed or a call of the system fails.
    func run() {
        let error: JournalError
        var batch: [JournalRequest] = []
        do {
            repeat {
                batch = nextBatch()
                try commit(&batch)
                try compactFurther()
            } while !isOver
            try synchronize()
            error = .closed(directory: store.directory)
        } catch let failure {
            error = failure
        }
        fail(error, batch)
    }

    private var isOver: Bool { store.state.withLock { $0.isClosing && $0.requests.isEmpty } }

    /// Refuses all requests, and releases the lock on the directory.
    private func fail(_ error: JournalError, _ batch: [JournalRequest]) {
        compaction = nil
        let (requests, woken) = store.state.withLock { state in
            defer { state.requests = [] }
            state.error = error
            state.files = [:]
            return (batch + state.requests, state.pulls.takeWaiting() + state.watchers.values)
        }
        for request in requests { request.continuation?.resume(throwing: error) }
        for waiter in compactionWaiters { waiter.resume(throwing: error) }
        for listener in woken { listener.wake() }
        lock.unlock()
        let closers = store.state.withLock { $0.closers.take() }
        for closer in closers ?? [] { closer.resume() }
    }
}

// MARK: - Requests

extension JournalWriter {
    /// Waits for requests. Returns none if other work is due.
    private func nextBatch() -> [JournalRequest] {
        gather()
        var limit: Duration?
        if case .interval(let interval) = configuration.durability, !isSynchronized {
            limit = lastSynchronization + interval.saturated - .now
        }
        if compaction != nil { limit = .zero }
        return take(limit: limit)
    }

    /// Waits until the callers that shared the last synchronization, and those that have arrived meanwhile, can share the
    /// next one.
    private func gather() {
        let (time, callers) = synchronization
        synchronization.callers = 0
        // A shorter time is shorter than waking a thread.
        if callers > 0, time >= .microseconds(100) { wait(for: callers, limit: min(time / 2, .milliseconds(2))) }
    }

    private func take(limit: Duration?) -> [JournalRequest] {
        wait(for: 1, limit: limit)
        return store.state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    private func wait(for count: Int, limit: Duration?) {
        store.state.withLock { $0.wakeCount = count }
        _ = store.state.wait(for: limit) { state, isLate -> Bool? in
            if state.requests.count < count, !isLate, !state.isClosing { return nil }
            state.wakeCount = .max
            return true
        }
    }

    /// Writes the records of requests, and resumes the callers.
    private func commit(_ batch: inout [JournalRequest]) throws(JournalError) {
        if end > configuration.segmentSize { try beginSegment(number + 1) }
        var stored: [(id: Int, position: JournalPosition)] = []
        var callers = 0
        for request in batch {
            guard let record = request.record else { continue }
            let start = buffer.count
            record.append(to: &buffer, payload: request.payload)
            if case .put(let put) = record {
                let length = UInt32(buffer.count - start)
                stored.append((put.id, JournalPosition(segment: number, length: length, offset: end + start)))
            }
            if request.needsSynchronization { callers += 1 }
            if buffer.count > 1 << 20 { try flush() }
        }
        try flush()
        try synchronizeIfDue(callers)
        publish(stored)
        let requests = batch
        batch = []
        for request in requests { answer(request) }
    }

    private func flush() throws(JournalError) {
        if buffer.isEmpty { return }
        try segment.write(buffer)
        if try !segment.isLinked { throw .removed(file: segment.path) }
        end += buffer.count
        isSynchronized = false
        let isLarge = buffer.count > 4 << 20
        buffer.removeAll(keepingCapacity: !isLarge)
    }

    private func synchronizeIfDue(_ callers: Int) throws(JournalError) {
        switch configuration.durability {
        case .everyRecord where callers > 0:
            let start = ContinuousClock.now
            try synchronize()
            let waiting = store.state.withLock { $0.requests.count }
            synchronization = (ContinuousClock.now - start, callers + waiting)
        case .interval(let interval) where ContinuousClock.now - lastSynchronization >= interval: try synchronize()
        default: break
        }
    }

    private func synchronize() throws(JournalError) {
        lastSynchronization = .now
        if isSynchronized { return }
        do throws(JournalError) {
            try segment.synchronize()
        } catch {
            // The system may have discarded the bytes, and still return them to the process that opens the journal.
            synchronizationFailed = true
            _ = try? JournalFile(JournalPath.mark(in: store.directory), .create, fault)
            throw error
        }
        isSynchronized = true
    }

    /// Makes stored payloads available to workers.
    private func publish(_ stored: [(id: Int, position: JournalPosition)]) {
        let size = sizes.values.reduce(end, +)
        store.change { state, _ in
            for (id, position) in stored { state.pulls.core.store(position, for: id) }
            state.fileSize = size
        }
    }

    private func answer(_ request: JournalRequest) {
        guard let continuation = request.continuation else { return }
        if request.compacts { return compactionWaiters.append(continuation) }
        guard let (file, position) = request.source else { return continuation.resume(returning: []) }
        continuation.resume(with: Result { try file.bytes(at: position.offset, count: Int(position.length)) })
    }
}

// MARK: - Segments

extension JournalWriter {
    /// Completes the segment, and begins another one.
    private func beginSegment(_ next: UInt32) throws(JournalError) {
        try synchronize()
        let lastID = store.state.withLock { $0.pulls.core.lastID }
        let header = SegmentHeader(isBase: false, number: next, previous: number, lastID: lastID)
        let file = try JournalFile.createSegment(header, in: store.directory, fault)
        sizes[number] = end
        (segment, number, end) = (file, next, SegmentHeader.size)
        store.state.withLock { $0.files[next] = file }
    }
}

extension JournalFile {
    /// Creates a segment without records.
    static func createSegment(
        _ header: SegmentHeader, in directory: String, _ fault: @escaping FileFault
    ) throws(JournalError) -> JournalFile {
        let path = JournalPath.segment(header.number, in: directory)
        try remove(path + JournalPath.draft, fault)
        let file = try JournalFile(path + JournalPath.draft, .create, fault)
        try file.write(header.bytes)
        try file.publish(as: path, in: directory, fault)
        return try JournalFile(path, .append, fault)
    }

    /// Renames a file once its contents are on the disk.
    func publish(as target: String, in directory: String, _ fault: @escaping FileFault) throws(JournalError) {
        try synchronize()
        try Self.rename(path, to: target, fault)
        try JournalFile(directory, .read, fault).synchronize()
    }
}

// MARK: - Compaction

/// Copies the deliveries of complete segments into a new segment.
struct JournalCompaction {
    /// The number of the new segment, which replaces all segments with lower numbers.
    let number: UInt32
    let output: JournalFile
    var buffer: [UInt8]
    var end = 0
    /// The last delivery that was copied.
    var cursor = 0
    var moves: [(id: Int, from: JournalPosition, to: JournalPosition)] = []
    /// Whether all deliveries were copied.
    var isComplete = false
}

/// A delivery, as it is written into a new segment.
private struct JournalSnapshot: Sendable {
    let entry: InMemoryEngineState<JournalPosition>.Entry
    let source: (file: JournalFile, position: JournalPosition)
    let delay: Duration
    let reason: String?
}

extension JournalWriter {
    /// Performs the next step of a compaction if one is due. A step copies about 1 MiB.
    private func compactFurther() throws(JournalError) {
        do throws(JournalError) {
            if compaction == nil {
                if try !beginCompaction() { return }
            }
            // Records that callers added before the last copy are in the files now. For example, a new delivery must be
            // stored before the delivery that it has replaced is removed.
            if compaction!.isComplete { try synchronize() } else { return try copy() }
            try compaction!.output.synchronize()
        } catch {
            if synchronizationFailed || mustCompact { throw error }
            // The former segments are complete.
            return abandonCompaction(error)
        }
        try finishCompaction()
    }

    private func beginCompaction() throws(JournalError) -> Bool {
        let (live, lastID) = store.state.withLock { ($0.pulls.core.size, $0.pulls.core.lastID) }
        let size = sizes.values.reduce(end, +)
        let isDue = size - live > configuration.compactionThreshold && size > 2 * live && size >= nextCompaction
        if !isDue, compactionWaiters.isEmpty, !mustCompact { return false }
        let base = number + 1
        try beginSegment(base + 1)
        let header = SegmentHeader(isBase: true, number: base, previous: 0, lastID: lastID)
        let path = JournalPath.segment(base, in: store.directory) + JournalPath.draft
        try JournalFile.remove(path, fault)
        compaction = JournalCompaction(
            number: base, output: try JournalFile(path, .create, fault), buffer: header.bytes)
        return true
    }

    private func abandonCompaction(_ error: JournalError) {
        if let compaction { try? JournalFile.remove(compaction.output.path, fault) }
        compaction = nil
        nextCompaction = 2 * sizes.values.reduce(end, +)
        for waiter in compactionWaiters { waiter.resume(throwing: error) }
        compactionWaiters = []
    }

    private func copy() throws(JournalError) {
        let (number, cursor) = (compaction!.number, compaction!.cursor)
        let now = store.clock.now
        let snapshots = store.state.withLock { state in
            let core = state.pulls.core
            return core.entries(after: cursor, limit: 1000) { ($0.payload?.segment ?? .max) < number }.map { entry in
                JournalSnapshot(
                    entry: entry, source: state.source(entry.payload!)!,
                    delay: entry.receipt != 0 ? .zero : core.end(of: entry.id).map { $0 - now } ?? .zero,
                    reason: core.reasons[entry.id])
            }
        }
        for snapshot in snapshots {
            // The rest follows in the next step.
            if compaction!.buffer.count > 1 << 20 { break }
            try copy(snapshot)
        }
        compaction!.isComplete = snapshots.isEmpty
        try compaction!.output.write(compaction!.buffer)
        compaction!.end += compaction!.buffer.count
        compaction!.buffer.removeAll(keepingCapacity: true)
    }

    private func copy(_ snapshot: JournalSnapshot) throws(JournalError) {
        let (file, position) = snapshot.source
        var (put, payload) = try file.payload(at: position)
        let entry = snapshot.entry
        compaction!.cursor = entry.id
        // The delivery that replaces this one has a record of its own.
        if entry.status == .outdated { return }
        put.replaced = 0
        (put.attempt, put.failures, put.reason) = (entry.attempt, entry.failures, snapshot.reason)
        (put.isHeld, put.isDead) = (entry.receipt != 0, entry.status == .dead)
        (put.time, put.delay) = (configuration.wallClock(), snapshot.delay.milliseconds)
        let start = compaction!.buffer.count
        JournalRecord.put(put).append(to: &compaction!.buffer, payload: payload)
        let length = UInt32(compaction!.buffer.count - start)
        let target = JournalPosition(segment: compaction!.number, length: length, offset: compaction!.end + start)
        compaction!.moves.append((entry.id, position, target))
    }

    private func finishCompaction() throws(JournalError) {
        let compaction = self.compaction!
        let path = JournalPath.segment(compaction.number, in: store.directory)
        try compaction.output.publish(as: path, in: store.directory, fault)
        store.state.withLock { $0.files[compaction.number] = compaction.output }
        for first in stride(from: 0, to: compaction.moves.count, by: 10_000) {
            let moves = compaction.moves[first..<min(first + 10_000, compaction.moves.count)]
            store.state.withLock { state in
                for (id, from, to) in moves { state.pulls.core.move(id) { $0 == from ? to : nil } }
            }
        }
        let old = sizes.keys.filter { $0 < compaction.number }
        for number in old {
            sizes[number] = nil
            store.state.withLock { $0.files[number] = nil }
            // An opening removes what remains.
            try? JournalFile.remove(JournalPath.segment(number, in: store.directory), fault)
        }
        sizes[compaction.number] = compaction.end
        self.compaction = nil
        mustCompact = false
        nextCompaction = 0
        publish([])
        for waiter in compactionWaiters { waiter.resume(returning: []) }
        compactionWaiters = []
    }
}

extension Duration {
    /// Whole milliseconds, rounded up; 0 for a negative duration.
    var milliseconds: UInt64 {
        let (seconds, attoseconds) = max(.zero, saturated).components
        return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
