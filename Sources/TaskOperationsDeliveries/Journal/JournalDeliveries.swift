internal import TaskOperations
import TaskOperationsExtras

/// The deliveries of a `JournalEngine` to one worker.
public struct JournalDeliveries<Payload: Codable & Sendable>: AsyncSequence, Sendable {
    fileprivate let engine: JournalEngine<Payload>

    init(engine: JournalEngine<Payload>) {
        self.engine = engine
    }

    /// An iterator over the deliveries.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let engine: JournalEngine<Payload>

        /// Waits for the next delivery. Returns nil if the task is cancelled. Also returns nil after `finish`, if no
        /// delivery is waiting or held.
        ///
        /// - Throws: `JournalError`.
        public mutating func next() async throws -> JournalDelivery<Payload>? {
            let store = engine.store
            let listener = ProgressListener()
            defer { store.state.withLock { $0.pulls.remove(listener) } }
            var due: Duration?
            while await store.clock.wait(for: listener, until: due) {
                let (pulled, bytes) = try await store.perform { state, now in state.pull(for: listener, at: now) }
                switch pulled {
                case .delivery(let pull):
                    if let delivery = try await engine.delivery(pull, bytes) { return delivery }
                    listener.wake()
                case .wait(let moment): due = moment
                case .end: return nil
                }
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(engine: engine) }
}

/// The holder of a delivery.
struct JournalPull: Sendable {
    let id: Int
    let attempt: Int
    let receipt: Int
    let source: (file: JournalFile, position: JournalPosition)

    enum Result: Sendable {
        case delivery(JournalPull)
        case wait(until: Duration?)
        case end
    }
}

extension JournalState {
    /// Selects the next delivery, and records the attempt.
    fileprivate mutating func pull(for listener: ProgressListener, at now: Duration) -> JournalPull.Result {
        switch pulls.pull(for: listener, at: now) {
        case .delivery(let id, let position, let attempt, let receipt):
            let source = source(position)!
            let failures = pulls.core[id]!.failures
            let record = JournalRecord.deliver(id: id, attempt: Int32(attempt), failures: failures)
            // A power failure may lose the number of the attempt.
            requests.append(JournalRequest(record: record, source: source, needsSynchronization: false))
            return .delivery(JournalPull(id: id, attempt: attempt, receipt: receipt, source: source))
        case .wait(let moment): return .wait(until: moment)
        case .end: return .end
        }
    }
}

extension JournalEngine {
    /// Decodes a delivery. Returns nil if its bytes are damaged or cannot be decoded; it is a dead letter then.
    fileprivate func delivery(_ pull: JournalPull, _ bytes: [UInt8]) async throws -> JournalDelivery<Payload>? {
        do {
            let (put, payload) = try pull.source.file.payload(in: bytes, at: pull.source.position)
            return JournalDelivery(
                id: pull.id, payload: try coding.decode(payload), attempt: pull.attempt, identity: put.identity,
                key: put.key, receipt: pull.receipt, engine: self)
        } catch {
            let reason = Self.reason(error)
            do {
                _ = try await store.perform { state, now in
                    try state.pulls.core.bury(pull.id, pull.receipt, because: reason, at: now)
                }
            } catch is DeliveryLeaseLost {}
            return nil
        }
    }

    fileprivate static func reason(_ error: any Error) -> String { String("\(error)".unicodeScalars.prefix(1000)) }
}

/// A delivery of a `JournalEngine`.
public struct JournalDelivery<Payload: Codable & Sendable>: Delivery {
    public let id: Int
    public let payload: Payload
    public let attempt: Int
    /// The identity of the request; nil if it has none.
    public let identity: String?
    /// The key of the delivery; nil if none was given.
    public let key: String?
    fileprivate let receipt: Int
    fileprivate let engine: JournalEngine<Payload>

    public func acknowledge() async throws {
        _ = try await engine.store.perform { state, now in
            let isOutdated = state.pulls.core[id]?.status == .outdated
            _ = try state.pulls.core.acknowledge(id, receipt, at: now)
            // The record that replaced it has removed it.
            if !isOutdated { state.requests.append(JournalRequest(record: .remove(id: id))) }
        }
    }

    public func reject(retryAfter delay: Duration) async throws { try await reject(delay, because: nil) }

    public func reject(retryAfter delay: Duration, because error: any Error) async throws {
        try await reject(delay, because: JournalEngine<Payload>.reason(error))
    }

    private func reject(_ delay: Duration, because reason: String?) async throws {
        let time = engine.store.configuration.wallClock()
        _ = try await engine.store.perform { state, now in
            try state.pulls.core.reject(id, receipt, after: delay, because: reason, at: now)
            // A dead letter and an outdated delivery have records of their own.
            guard let entry = state.pulls.core[id], [.waiting, .ready].contains(entry.status) else { return }
            let record = JournalRecord.reject(
                id: id, failures: entry.failures, time: time, delay: delay.milliseconds, reason: reason)
            state.requests.append(JournalRequest(record: record))
        }
    }

    public func extendLease(by duration: Duration) async throws {
        _ = try await engine.store.perform { state, now in
            try state.pulls.core.extend(id, receipt, by: duration, at: now)
        }
    }
}
