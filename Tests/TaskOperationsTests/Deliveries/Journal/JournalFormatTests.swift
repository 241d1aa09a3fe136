import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

/// The article "The format of a journal" describes the bytes.
@Suite("The format of a journal", .endsInTime)
struct JournalFormatTests {
    /// The bytes of a journal in version 1, which every later version must read. They were computed from the article, by
    /// another program.
    private static let version1 = """
        544f4a4f55524e4c010001000100000000000000000000000000000030d36066
        450000000296500a10466ac00100190001000000000000000000000000000000e8030000000000000000000000000000e8030000
        000000000000000000000000030000006f6e65ffffffffffffffff61a5
        15000000e6302ee896d346f90200000001000000000000000100000000000000a5
        320000004011218d249894b803000000010000000000000001000000e803000000000000d0070000000000000d00000054657374
        4661696c7572652829a5
        4200000087ef86e1f324002d0100150002000000000000000000000000000000e8030000000000000000000000000000e8030000
        000000008813000000000000ffffffff010000006bffffffffa5
        450000004f07798e476d7ad10100150003000000000000000100000000000000e8030000000000000000000000000000e8030000
        000000000000000000000000030000006f6e65ffffffffffffffff62a5
        150000005888e7574c2852e30200000003000000000000000100000000000000a5
        0d00000086d1d4c15e830bed050000000300000000000000a5
        42000000ca7e06cdf9a07c1e0100150004000000000000000000000000000000e8030000000000000000000000000000e8030000
        000000000000000000000000ffffffffffffffffffffffff63a5
        1500000034ebb5cdcf5965c00200000004000000000000000100000000000000a5
        32000000cb2f380cbde7bac703000000040000000000000001000000e80300000000000000000000000000000d00000054657374
        4661696c7572652829a5
        15000000b1880bec28c72d650200000004000000000000000200000001000000a5
        22000000d1512fbe3ceb6e4a040000000400000000000000020000000d000000546573744661696c7572652829a5
        """

    private var bytes: [UInt8] {
        let digits = Self.version1.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test(
        "the checksum is CRC-32C",
        arguments: [("", 0), ("a", 0xC1D0_4330), ("123456789", 0xE306_9283)] as [(String, UInt32)])
    func checksum(text: String, expected: UInt32) {
        #expect(Array(text.utf8).withUnsafeBytes { Checksum.of($0) } == expected)
    }

    @Test("an engine writes the bytes that the article describes")
    func writing() async throws {
        let (folder, clock) = (JournalFolder(), ManualClock())
        let engine = try await folder.open(clock: clock) {
            $0.wallClock = { 1000 }
            $0.maxAttempts = 2
        }
        try await engine.enqueue("a", options: EnqueueOptions(identity: "one", priority: .high))
        try await engine.next().reject(retryAfter: .seconds(2), because: TestFailure())
        try await engine.enqueue("", options: EnqueueOptions(key: "k", delay: .seconds(5)))
        try await engine.enqueue("b", options: EnqueueOptions(identity: "one", replaces: true))
        try await engine.next().acknowledge()
        try await engine.enqueue("c")
        try await engine.next().reject(retryAfter: .zero, because: TestFailure())
        try await engine.next().reject(retryAfter: .zero, because: TestFailure())
        await engine.close()
        #expect([UInt8](try Data(contentsOf: URL(filePath: folder.segment))) == bytes)
    }

    @Test("version 1 is read")
    func reading() async throws {
        let (folder, clock) = (JournalFolder(), ManualClock())
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: "\(folder.path)/00000001.journal"))
        let engine = try await folder.open(clock: clock) { $0.wallClock = { 3000 } }
        #expect(engine.counts.waiting == 1 && engine.counts.held == 0 && !engine.isReady)
        #expect(engine.deadLetters == [DeadLetter(id: 4, identity: nil, failures: 2, reason: "TestFailure()")])
        #expect(try await engine.payload(of: 4) == "c")
        clock.advance(by: .seconds(3))
        let delivery = try await engine.next()
        #expect(delivery.id == 2 && delivery.payload == "" && delivery.key == "k" && delivery.attempt == 1)
        await engine.close()
    }

    @Test("a record of random fields is read as it was written", arguments: 0..<20)
    func records(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let (record, payload) = Self.record(&generator)
            var bytes: [UInt8] = []
            record.append(to: &bytes, payload: payload)
            let read = bytes.withUnsafeBytes { JournalRecord.check($0) }
            #expect(read?.record == record)
            #expect(read.map { Array(bytes[$0.payload]) } == payload)
        }
    }

    @Test("a file of random records is opened, and its deliveries are delivered", arguments: 0..<20)
    func randomFiles(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = JournalFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        var bytes = SegmentHeader(isBase: true, number: 1, previous: 0, lastID: 5).bytes
        for _ in 0..<300 {
            var (record, payload) = Self.record(&generator)
            let id = generator.number(below: 30)
            let text = ["a", "b", nil][generator.number(below: 3)]
            switch record {
            case .put(var put):
                (put.id, put.replaced, put.key, put.identity) = (id, id / 3, text, "\(id)")
                (put.delay, put.failures) = (0, 0)
                record = .put(put)
            case .deliver: record = .deliver(id: id, attempt: 3, failures: 1)
            case .reject: record = .reject(id: id, failures: 1, time: 5, delay: 0, reason: text)
            case .bury: record = .bury(id: id, failures: 3, reason: text)
            case .remove: record = .remove(id: id)
            }
            record.append(to: &bytes, payload: payload)
        }
        try Data(bytes).write(to: URL(filePath: "\(folder.path)/00000001.journal"))
        let engine = try await folder.open()
        let (waiting, dead) = (engine.counts.waiting, engine.counts.dead)
        try await engine.compact()
        #expect(try await engine.drain().count == waiting)
        for letter in engine.deadLetters { try await engine.retryDeadLetter(letter.id) }
        #expect(try await engine.drain().count == dead)
        try await engine.enqueue("next")
        #expect(try await engine.drain() == ["next"])
        await engine.close()
    }

    private static func record(_ generator: inout SeededGenerator) -> (JournalRecord, payload: [UInt8]) {
        let id = generator.number(below: 1 << 40)
        let (few, many) = (Int32(generator.number(below: 1000)), UInt64(generator.number(below: 1 << 50)))
        func text() -> String? {
            let count = generator.number(below: 30)
            return count == 0 ? nil : String(repeating: "é", count: count - 1)
        }
        switch generator.number(below: 5) {
        case 0: return (.deliver(id: id, attempt: few, failures: 7), [])
        case 1: return (.reject(id: id, failures: few, time: many, delay: 5, reason: text()), [])
        case 2: return (.bury(id: id, failures: few, reason: text()), [])
        case 3: return (.remove(id: id), [])
        default:
            let put = JournalPut(
                id: id, replaced: id / 2, key: text(), identity: text(), priority: UInt8(generator.number(below: 256)),
                created: many, attempt: few, failures: few / 2, isHeld: few % 2 == 0, isDead: few % 3 == 0, time: many,
                delay: many / 3, reason: text())
            return (.put(put), (0..<generator.number(below: 100)).map { UInt8($0) })
        }
    }
}
