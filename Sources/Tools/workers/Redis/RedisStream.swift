internal import Foundation
import TaskOperations
import TaskOperationsDeliveries

/// Delivers the work in a stream of Redis or Valkey to a group of workers.
///
/// An entry has three fields: an identity `i`, the number `n` of attempts before the entry was added, and the payload
/// `p`. Payloads with a delayed retry wait in a sorted set. The lease is the idle time after which a worker may claim
/// an entry that another worker holds.
package final class RedisStream: Sendable {
    package let name: String
    /// The name of this worker, which is unique in the group.
    package let worker: String
    package let lease: Duration
    private let group = "workers"
    private let client: RedisClient
    /// The connection for blocking commands.
    private let blockingClient: RedisClient
    private let batch: Int

    /// - Parameters:
    ///   - batch: The number of entries that one call of the server fetches. With more than 1, this worker can hold
    ///     entries before it requests them.
    package init(
        _ name: String, at address: RedisAddress, password: String? = nil, lease: Duration,
        worker: String = UUID().uuidString, batch: Int = 1
    ) {
        self.name = name
        self.worker = worker
        self.lease = lease
        self.batch = batch
        client = RedisClient(address, password: password)
        blockingClient = RedisClient(address, password: password)
    }

    /// Creates the stream and the group if they do not exist.
    package func create() async throws {
        do {
            try await client.command("XGROUP", "CREATE", name, group, "0", "MKSTREAM")
        } catch let error as RedisError where error.description.hasPrefix("BUSYGROUP") {}
    }

    /// Adds payloads.
    package func send(_ payloads: [(id: String, payload: String)]) async throws {
        // A pipeline has a timeout as a whole.
        for first in stride(from: 0, to: payloads.count, by: 1000) {
            let commands = payloads[first..<min(first + 1000, payloads.count)].map {
                ["XADD", name, "*", "i", $0.id, "n", "0", "p", $0.payload]
            }
            _ = try await client.pipeline(commands)
        }
    }

    /// The number of payloads that are not acknowledged.
    package func count() async throws -> Int {
        let replies = try await client.pipeline([["XLEN", name], ["ZCARD", delayed]])
        return try replies.reduce(0) { sum, reply in
            guard let count = reply.integer, count >= 0 else { throw RedisError.unexpected(reply) }
            return count.addingSaturated(sum)
        }
    }

    /// The deliveries to this worker.
    package func deliveries() -> RedisDeliveries { RedisDeliveries(stream: self) }

    private var delayed: String { "\(name):delayed" }

    /// Runs a script that checks the holder first.
    ///
    /// - Throws: `DeliveryLeaseLost` if this worker does not hold the entry.
    fileprivate func call(_ script: String, _ delivery: RedisDelivery, _ arguments: [String] = []) async throws {
        let holder = [group, delivery.entry, worker, "\(delivery.deliveryCount)"]
        let reply = try await client.pipeline([["EVAL", script, "2", name, delayed] + holder + arguments])[0]
        if reply.integer != 1 { throw DeliveryLeaseLost() }
    }

    // MARK: Pulling

    /// Moves due payloads to the stream, and claims entries whose leases have ended, beginning at the cursor.
    fileprivate func maintain(_ cursor: inout String) async throws -> [FetchedEntry] {
        let arguments = [group, worker, "\(lease.milliseconds)", cursor, "\(batch)"]
        let reply = try await client.pipeline([["EVAL", RedisScripts.maintain, "2", name, delayed] + arguments])[0]
        guard let values = reply.array, let next = values.first?.string else { throw RedisError.unexpected(reply) }
        cursor = next
        return values.dropFirst().map { value in
            guard let entry = value.array, entry.count == 3, let count = entry[1].integer else {
                return .failure(.unexpected(value))
            }
            return delivery(entry[0], entry[2], count: count)
        }
    }

    /// Waits for new entries for a limited time.
    fileprivate func read(for time: Duration) async throws -> [FetchedEntry] {
        let reply = try await blockingClient.command(
            "XREADGROUP", "GROUP", group, worker, "COUNT", "\(batch)", "BLOCK", "\(max(1, time.milliseconds))",
            "STREAMS", name, ">")
        if reply == .null { return [] }
        guard let entries = reply.array?.last?.array else { throw RedisError.unexpected(reply) }
        return entries.map { value in
            guard let entry = value.array, entry.count == 2 else { return .failure(.unexpected(value)) }
            return delivery(entry[0], entry[1], count: 1)
        }
    }

    private func delivery(_ entry: RESPValue, _ fields: RESPValue, count: Int) -> FetchedEntry {
        guard let entry = entry.string, let values = fields.array?.compactMap(\.string), values.count == 6,
            let formerCount = Int(values[3])
        else { return .failure(.unexpected(.array([entry, fields]))) }
        let attempt = formerCount.addingSaturated(count)
        return .success(
            RedisDelivery(
                payload: RedisWork(id: values[1], attempt: attempt, text: values[5]), entry: entry,
                deliveryCount: count, stream: self))
    }
}

/// A delivery, or the error of an entry that a sender of another kind has added to the stream.
private typealias FetchedEntry = Result<RedisDelivery, RedisError>

extension Int {
    /// The sum, or the nearest integer if the sum overflows.
    fileprivate func addingSaturated(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = saturated.components
        return Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// The deliveries of a stream to one worker.
package struct RedisDeliveries: AsyncSequence, Sendable {
    fileprivate let stream: RedisStream

    package struct AsyncIterator: AsyncIteratorProtocol {
        /// The time between two checks of leases and delays.
        private static let interval = Duration.milliseconds(250)

        private let stream: RedisStream
        private let fetched = Fetched()
        private var cursor = "0-0"
        private var nextMaintenance: ContinuousClock.Instant?

        fileprivate init(_ stream: RedisStream) {
            self.stream = stream
        }

        /// Waits for the next delivery. Returns nil if the task is cancelled.
        ///
        /// - Throws: `RedisError` for an entry that is no work of `RedisStream.send`. The entry remains in the stream.
        package mutating func next() async throws -> RedisDelivery? {
            while true {
                if let entry = fetched.entries.popLast() { return try entry.get() }
                if Task.isCancelled { return nil }
                if nextMaintenance == nil { try await stream.create() }
                let now = ContinuousClock.now
                let end = nextMaintenance ?? now
                if end <= now {
                    nextMaintenance = now + Self.interval
                    fetched.entries = try await stream.maintain(&cursor).reversed()
                } else {
                    fetched.entries = try await stream.read(for: now.duration(to: end)).reversed()
                }
            }
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream) }
}

/// Entries that were fetched and not taken, in reverse order. Their deliveries are returned when the iterator is
/// released.
private final class Fetched {
    var entries: [FetchedEntry] = []

    deinit {
        let deliveries = entries.compactMap { try? $0.get() }
        if deliveries.isEmpty { return }
        Task { for delivery in deliveries { try? await delivery.reject(retryAfter: .zero) } }
    }
}

/// The work of an entry. A body whose effect must not happen twice can use `id` to detect a repetition.
package struct RedisWork: Hashable, Sendable {
    /// The identity that the sender has chosen, which is the same in each attempt.
    package let id: String
    package let attempt: Int
    package let text: String
}

/// An entry of a stream that this worker holds.
package struct RedisDelivery: Delivery {
    package let payload: RedisWork
    fileprivate let entry: String
    /// The number of the group's deliveries of the entry. The last of them was to this worker.
    fileprivate let deliveryCount: Int
    fileprivate let stream: RedisStream

    package var id: String { payload.id }
    package var attempt: Int { payload.attempt }

    package func acknowledge() async throws {
        try await stream.call(RedisScripts.acknowledge, self)
    }

    package func reject(retryAfter delay: Duration) async throws {
        try await stream.call(
            RedisScripts.reject, self, ["\(max(0, delay.milliseconds))", id, "\(attempt)", payload.text])
    }

    /// Extends the lease, at most to the full lease of the stream.
    package func extendLease(by duration: Duration) async throws {
        let idle = max(0, (stream.lease.saturated - duration.saturated).milliseconds)
        try await stream.call(RedisScripts.extend, self, ["\(idle)"])
    }
}
