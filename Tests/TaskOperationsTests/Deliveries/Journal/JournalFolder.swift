import Foundation
import TaskOperationsTesting
import Testing

@testable import TaskOperationsDeliveries

/// A temporary folder for a journal. It is removed with the object.
final class JournalFolder: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A copy of all files, as a process that is killed now would leave them.
    func copy() throws -> JournalFolder {
        let copy = JournalFolder()
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        return copy
    }

    /// The path of the only segment, or of the last one.
    var segment: String { get throws { "\(path)/\(try segments.last!)" } }

    var segments: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".journal") }.sorted()
        }
    }

    func open(
        _ durability: JournalDurability = .never, clock: any Clock<Duration> = ManualClock(),
        configure: (inout JournalConfiguration) -> Void = { _ in }
    ) async throws(JournalError) -> JournalEngine<String> {
        var configuration = JournalConfiguration(durability: durability, maxAttempts: 3)
        configuration.clock = clock
        configure(&configuration)
        return try await JournalEngine(directory: path, configuration: configuration, coding: .text)
    }
}

extension JournalCoding<String> {
    /// The bytes of a text.
    static var text: JournalCoding {
        JournalCoding {
            Array($0.utf8)
        } decode: {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

extension JournalEngine {
    /// Pulls a delivery.
    func next() async throws -> JournalDelivery<Payload> {
        var iterator = deliveries().makeAsyncIterator()
        return try #require(try await iterator.next())
    }

    /// Whether a pull would return at once.
    var isReady: Bool {
        let now = store.clock.now
        return store.state.withLock { state in
            state.pulls.core.expire(at: now)
            return state.pulls.core.hasNews
        }
    }

    /// Pulls and acknowledges all deliveries that are ready.
    func drain() async throws -> [Payload] {
        var payloads: [Payload] = []
        while isReady {
            let delivery = try await next()
            payloads.append(delivery.payload)
            try await delivery.acknowledge()
        }
        return payloads
    }
}

struct TestFailure: Error {}
