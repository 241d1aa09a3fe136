internal import TaskOperations
import TaskOperationsExtras

/// A record that the thread of a journal writes, and the caller that waits for it.
struct JournalRequest: Sendable {
    /// Nil if the caller only waits for the earlier records.
    var record: JournalRecord?
    var payload: [UInt8] = []
    /// The file and the position of the payload that the caller receives, or that the record copies.
    var source: (file: JournalFile, position: JournalPosition)?
    /// Whether the caller waits for the disk if the journal does.
    var needsSynchronization = true
    var compacts = false
    var continuation: CheckedContinuation<[UInt8], any Error>?
}

struct JournalState: Sendable {
    var pulls: EnginePulls<JournalPosition>
    /// The segments that contain payloads, by their numbers.
    var files: [UInt32: JournalFile] = [:]
    /// The requests that the thread has not taken.
    var requests: [JournalRequest] = []
    /// The number of requests at which the thread must be woken.
    var wakeCount = Int.max
    /// The error after which the journal accepts nothing.
    var error: JournalError?
    var isClosing = false
    /// The callers that wait until the thread has ended; nil if it has.
    var closers: [CheckedContinuation<Void, Never>]? = []
    /// The size of all segments in bytes.
    var fileSize = 0
    /// Woken after each change of the numbers of deliveries, and at the end.
    var watchers: [ObjectIdentifier: ProgressListener] = [:]

    var counts: JournalCounts {
        JournalCounts(
            waiting: pulls.core.count - pulls.core.heldCount, held: pulls.core.heldCount, dead: pulls.core.deadCount,
            fileSize: fileSize)
    }

    /// Adds the records of payloads that have died without a call.
    fileprivate mutating func recordDeaths() {
        if pulls.core.newlyDead.isEmpty { return }
        for id in pulls.core.newlyDead {
            guard let entry = pulls.core[id], entry.status == .dead else { continue }
            let record = JournalRecord.bury(id: id, failures: entry.failures, reason: pulls.core.reasons[id])
            requests.append(JournalRequest(record: record))
        }
        pulls.core.newlyDead = []
    }

    func source(_ position: JournalPosition) -> (file: JournalFile, position: JournalPosition)? {
        files[position.segment].map { ($0, position) }
    }
}

/// The state that callers and the thread of a journal share. Callers change the state, and add records. The thread
/// writes the records, and resumes the callers.
final class JournalStore: Sendable {
    let state: Monitor<JournalState>
    let clock: RelativeClock
    let configuration: JournalConfiguration
    let directory: String

    init(_ directory: String, _ configuration: JournalConfiguration, clock: RelativeClock, _ state: JournalState) {
        self.directory = directory
        self.configuration = configuration
        self.clock = clock
        self.state = Monitor(state)
    }

    /// Opens a journal, and starts its thread.
    static func open(_ directory: String, _ configuration: JournalConfiguration) async throws(JournalError)
        -> JournalStore
    {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<JournalStore, JournalError>, Never>) in
            let code = SystemThread.start(name: "journal") {
                do throws(JournalError) {
                    let opened = try OpenedJournal(directory, configuration)
                    let writer = JournalWriter(opened)
                    try writer.rewriteIfNeeded(opened)
                    continuation.resume(returning: .success(opened.store))
                    writer.run()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if code != 0 {
                continuation.resume(
                    returning: .failure(.systemCall("pthread_create", file: directory, code: code)))
            }
        }
        return try result.get()
    }

    /// Requests the end of the thread, which first serves all earlier requests.
    func startClosing() {
        state.withLock { $0.isClosing = true }
        state.wakeOne()
    }

    /// Closes the journal, and waits for the end of the thread.
    func close() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                state.closers?.append(continuation)
                return state.closers == nil
            }
            if hasEnded { continuation.resume() } else { startClosing() }
        }
    }

    /// Applies an event, and returns when the records that it has added are stored. Returns at once if there are none.
    ///
    /// - Parameter event: Called under the lock.
    /// - Returns: The result of the event, and the payload that its last request has read.
    /// - Throws: The error of the event, or of the thread.
    func perform<Value: Sendable>(
        _ event: (inout JournalState, _ now: Duration) throws -> Value
    ) async throws -> (value: Value, payload: [UInt8]) {
        var value: Value?
        let payload = try await withCheckedThrowingContinuation { continuation in
            let answer = change { state, now -> Result<(Value, Bool), any Error> in
                if let error = state.error { return .failure(error) }
                if state.isClosing { return .failure(JournalError.closed(directory: directory)) }
                return Result {
                    let count = state.requests.count
                    let value = try event(&state, now)
                    // The caller waits for its own record, which may read a payload. Otherwise, for those of deaths.
                    if state.requests.count == count { state.recordDeaths() }
                    if state.requests.count == count { return (value, false) }
                    state.requests[state.requests.count - 1].continuation = continuation
                    return (value, true)
                }
            }
            switch answer {
            case .success((let result, let mustWait)):
                value = result
                if !mustWait { continuation.resume(returning: []) }
            case .failure(let error): continuation.resume(throwing: error)
            }
        }
        return (value!, payload)
    }

    /// Applies an event. Wakes the thread if it has records to write, and the workers that can look for a delivery.
    func change<Result: Sendable>(_ event: (inout JournalState, _ now: Duration) -> Result) -> Result {
        let now = clock.now
        let (result, woken, wakesThread) = state.withLock { state -> (Result, [ProgressListener], Bool) in
            let (nextEnd, counts) = (state.pulls.core.nextEnd, state.counts)
            let result = event(&state, now)
            state.pulls.core.released = []
            state.recordDeaths()
            let wakesThread = state.requests.count >= state.wakeCount
            if wakesThread { state.wakeCount = .max }
            var woken = state.pulls.takeWoken(since: nextEnd)
            if !state.watchers.isEmpty, state.counts != counts { woken += state.watchers.values }
            return (result, woken, wakesThread)
        }
        if wakesThread { state.wakeOne() }
        for listener in woken { listener.wake() }
        return result
    }
}
