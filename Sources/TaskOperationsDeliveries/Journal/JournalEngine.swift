internal import TaskOperations
import TaskOperationsExtras

/// An engine in files, which needs no server. It supports payloads that survive the end of the process, leases,
/// redeliveries, delays, an order for each key, priorities, identities and dead letters.
///
/// ```swift
/// let engine = try await JournalEngine<Photo>(directory: folder)
/// try await engine.enqueue(photo, options: EnqueueOptions(identity: "photo 17"))
/// await queue.consume(engine.deliveries()) { photo in … }   // returns when its task is cancelled
/// await engine.close()
/// ```
///
/// **A call returns when its record is stored.** `JournalConfiguration.durability` says whether it then survives a power
/// failure, too. At an opening, a delivery whose process has ended is delivered again, and the attempt counts as failed.
///
/// One engine at a time can open a directory. The payloads are on the disk. In memory, a waiting delivery takes about
/// 95 bytes, and the text of its key and its identity.
///
/// If the disk is full, or another call of the system fails, the call throws `JournalError`, and so do all later calls.
/// Another engine for the directory then reads what is stored. The engine is not available on Windows and
/// WASI, where `init` throws `JournalError.systemCall`.
public final class JournalEngine<Payload: Codable & Sendable>: Sendable {
    let store: JournalStore
    let coding: JournalCoding<Payload>

    /// Opens the journal in a directory, or creates it. Reads all records: about a second for 10⁶ small deliveries.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory, which contains nothing else. It is created if it does not exist.
    ///   - configuration: The durability, the lease and the number of attempts.
    ///   - coding: The conversion of payloads to bytes.
    /// - Throws: `JournalError` if another engine uses the directory, if a file is damaged or too new, or if a call of
    ///   the system fails.
    public init(
        directory: String, configuration: JournalConfiguration = JournalConfiguration(), coding: JournalCoding<Payload>
    ) async throws(JournalError) {
        require(configuration.lease > .zero, "lease is \(configuration.lease); it must be positive.")
        require(configuration.maxAttempts > 0, "maxAttempts is \(configuration.maxAttempts); it must be positive.")
        store = try await JournalStore.open(directory, configuration)
        self.coding = coding
    }

    #if canImport(FoundationEssentials) || canImport(Foundation)
        /// Opens the journal in a directory, with payloads in JSON.
        ///
        /// - Parameters:
        ///   - directory: The path of the directory, which contains nothing else. It is created if it does not exist.
        ///   - configuration: The durability, the lease and the number of attempts.
        /// - Throws: The same errors as the other initializer.
        public convenience init(
            directory: String, configuration: JournalConfiguration = JournalConfiguration()
        ) async throws(JournalError) {
            try await self.init(directory: directory, configuration: configuration, coding: .json)
        }
    #endif

    deinit { store.startClosing() }

    /// Adds a payload. Returns when it is stored. If the task is cancelled meanwhile, the payload is added all the same.
    ///
    /// - Parameters:
    ///   - payload: The payload. Its bytes and its key have at most about 2³¹ bytes.
    ///   - options: The identity, the key, the priority and the delay of the payload.
    /// - Returns: The number of the delivery. If the journal has a delivery with the identity of `options`, and
    ///   `replaces` is false, the number of that delivery.
    /// - Throws: `JournalError`, or the error of the coding. After an error, it is not known whether the payload is
    ///   stored. An identity prevents that the repeated call adds it twice.
    @discardableResult
    public func enqueue(_ payload: Payload, options: EnqueueOptions = EnqueueOptions()) async throws -> Int {
        var put = JournalPut(id: 0, key: options.key, identity: options.identity, priority: options.priority.rawValue)
        put.delay = options.delay.milliseconds
        return try await add(put, coding.encode(payload), options) { core in
            options.identity.flatMap { core.id(of: $0) }
        }
    }

    /// Adds a delivery.
    ///
    /// - Parameter former: Returns the number of the delivery that it replaces, or that it repeats.
    private func add(
        _ put: JournalPut, _ bytes: [UInt8], _ options: EnqueueOptions,
        _ former: (InMemoryEngineState<JournalPosition>) throws -> Int?
    ) async throws -> Int {
        let length = bytes.count + (put.key?.utf8.count ?? 0) + (put.identity?.utf8.count ?? 0)
        if length > 1 << 31 - 1 << 12 { throw JournalError.tooLarge(bytes: bytes.count) }
        let time = store.configuration.wallClock()
        return try await store.perform { state, now in
            let former = try former(state.pulls.core)
            if let former, !options.replaces {
                // The caller also waits until the former payload is stored.
                state.requests.append(JournalRequest())
                return former
            }
            var put = put
            if let former { state.pulls.core.replace(former) }
            put.id = state.pulls.core.send(nil, options, at: now)
            put.replaced = former ?? 0
            if put.created == 0 { put.created = time }
            put.time = time
            state.requests.append(JournalRequest(record: .put(put), payload: bytes))
            return put.id
        }.value
    }

    /// Removes the delivery with an identity. A body that executes continues, and its delivery is not repeated.
    ///
    /// - Returns: Whether the journal had a delivery with the identity.
    /// - Throws: `JournalError`.
    @discardableResult
    public func cancel(identity: String) async throws -> Bool {
        try await store.perform { state, _ in
            guard let id = state.pulls.core.id(of: identity) else { return false }
            state.pulls.core.replace(id)
            state.requests.append(JournalRequest(record: .remove(id: id)))
            return true
        }.value
    }

    /// Ends the delays of deliveries that have failed, so that they are delivered again at once. For example, call this when
    /// the network is back.
    ///
    /// The delays of deliveries that have not failed remain. The journal does not store the call: after a restart, the
    /// deliveries that were not done have their former delays again. The call takes O(*n* log *n*) time in the number of
    /// deliveries. Other calls continue meanwhile.
    public func retryFailed() {
        var last: Int? = 0
        while let id = last {
            last = store.change { state, _ in state.pulls.core.endDelaysAfterFailures(after: id, limit: 1024) }
        }
    }

    /// The numbers of deliveries.
    public var counts: JournalCounts { store.state.withLock { $0.counts } }

    /// The numbers of deliveries: the present ones, and those after each change.
    ///
    /// ```swift
    /// for await counts in engine.countUpdates() { label.text = "\(counts.unfinished) edits are left" }
    /// ```
    ///
    /// Of several changes between two elements, only the last one is returned. The sequence ends when the journal is closed
    /// or has failed, and when the task is cancelled.
    public func countUpdates() -> AsyncStream<JournalCounts> {
        let watch = CountWatch(store)
        return AsyncStream { await watch.next() }
    }

    /// Closes the sequences of deliveries: they end when no delivery is waiting or held. The journal remains open.
    public func finish() { store.change { state, _ in state.pulls.core.isFinished = true } }

    /// Returns the deliveries to one worker of this process.
    public func deliveries() -> JournalDeliveries<Payload> { JournalDeliveries(engine: self) }

    /// Rewrites the files, so that they contain only the current deliveries. The journal does this itself when the
    /// files are large; see `JournalConfiguration.compactionThreshold`. Other calls continue meanwhile.
    ///
    /// - Throws: `JournalError`. If only the rewriting has failed, the journal remains usable.
    public func compact() async throws {
        _ = try await store.perform { state, _ in state.requests.append(JournalRequest(compacts: true)) }
    }

    /// Stores all records on the disk, and closes the journal. Another engine can then open it. All later calls throw
    /// `JournalError.closed`, and the sequences of deliveries, too.
    public func close() async { await store.close() }
}

/// A listener to the numbers of deliveries. It leaves the journal when it is released.
private final class CountWatch: Sendable {
    private let store: JournalStore
    private let listener = ProgressListener()

    init(_ store: JournalStore) {
        self.store = store
        store.state.withLock { $0.watchers[ObjectIdentifier(listener)] = listener }
    }

    deinit { store.state.withLock { $0.watchers[ObjectIdentifier(listener)] = nil } }

    /// Waits until the numbers have changed. The first call returns at once.
    func next() async -> JournalCounts? {
        guard await listener.nextChange() else { return nil }
        return store.state.withLock { $0.error == nil ? $0.counts : nil }
    }
}

/// The numbers of deliveries in a journal.
public struct JournalCounts: Hashable, Sendable {
    /// The deliveries that wait for a worker, for the end of a delay, or for earlier deliveries of their keys.
    public let waiting: Int
    /// The deliveries that workers hold.
    public let held: Int
    /// The deliveries that are not done: those that wait, and those that workers hold.
    public var unfinished: Int { waiting + held }
    /// The dead letters.
    public let dead: Int
    /// The size of the files, in bytes.
    public let fileSize: Int
}

// MARK: - Dead letters

/// A delivery that has failed too often. It is not delivered until it is retried.
public struct DeadLetter: Identifiable, Hashable, Sendable {
    /// The number of the delivery.
    public let id: Int
    /// The identity of the request; nil if it had none.
    public let identity: String?
    /// The number of failed attempts.
    public let failures: Int
    /// The description of the last failure.
    public let reason: String
}

extension JournalEngine {
    /// The dead letters, in the order in which they were added. O(n) in the number of deliveries.
    public var deadLetters: [DeadLetter] {
        store.state.withLock { state in
            let core = state.pulls.core
            return core.dead.map { core.deadLetter($0) }
        }
    }

    /// Reads the payload of a delivery from the disk.
    ///
    /// - Throws: `JournalError`, or the error of the coding.
    public func payload(of id: Int) async throws -> Payload { try coding.decode(try await read(id).payload) }

    /// Delivers a dead letter again, after the other deliveries of its key, and without failed attempts.
    ///
    /// - Returns: The new number of the delivery.
    /// - Throws: `JournalError.unknownDelivery` if there is no such dead letter, or another `JournalError`.
    @discardableResult
    public func retryDeadLetter(_ id: Int) async throws -> Int {
        var (put, payload) = try await read(id)
        let options = EnqueueOptions(
            identity: put.identity, replaces: true, key: put.key, priority: TaskPriority(rawValue: put.priority))
        (put.attempt, put.failures, put.reason, put.isHeld, put.isDead, put.delay) = (0, 0, nil, false, false, 0)
        return try await add(put, payload, options) { core in try core.requireDead(id) }
    }

    /// Removes a dead letter.
    ///
    /// - Throws: `JournalError.unknownDelivery` if there is no such dead letter, or another `JournalError`.
    public func dropDeadLetter(_ id: Int) async throws {
        _ = try await store.perform { state, _ in
            state.pulls.core.remove(try state.pulls.core.requireDead(id))
            state.requests.append(JournalRequest(record: .remove(id: id)))
        }
    }

    private func read(_ id: Int) async throws -> (put: JournalPut, payload: [UInt8]) {
        let (source, bytes) = try await store.perform { state, _ in
            guard let position = state.pulls.core[id]?.payload, let source = state.source(position) else {
                throw JournalError.unknownDelivery(id: id)
            }
            state.requests.append(JournalRequest(source: source))
            return source
        }
        return try source.file.payload(in: bytes, at: source.position)
    }
}

extension InMemoryEngineState {
    func deadLetter(_ entry: Entry) -> DeadLetter {
        DeadLetter(
            id: entry.id, identity: identity(of: entry.id), failures: Int(entry.failures),
            reason: reasons[entry.id] ?? "")
    }

    fileprivate func requireDead(_ id: Int) throws -> Int {
        guard self[id]?.status == .dead else { throw JournalError.unknownDelivery(id: id) }
        return id
    }
}
