import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDiagnosis

@Suite("Recordings that are damaged or forged", .computing, .endsInTime)
struct HostileRecordingTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    /// A recording of queues with operations of all kinds, some of which are unfinished.
    private func recording() async throws -> [UInt64] {
        let (queue, other) = (
            TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 2), TaskOperationQueue(name: "other")
        )
        let (recorder, gate) = (try FlightRecorder(writingTo: folder["recording"], of: [queue, other]), Gate())
        let first = queue.addOperation(name: "first") {}
        let second = other.addOperation(name: "second", dependencies: [first]) { throw WorkFailed() }
        let held = other.addOperation(name: "held", dependencies: [second]) { await gate.pass() }
        queue.addOperation(name: "awaiting", .limit(AsyncSemaphore(capacity: 1, name: "disk"))) { try await held.value }
        await until { held.waiterCount == 1 }
        queue.addBarrier(name: "barrier") {}
        other.addOperation(name: "delayed", [.delay(.seconds(3600)), .priority(.high)]) {}.cancel()
        other.isSuspended = true
        other.addOperation(name: "waiting", dependencies: [held]) {}
        try recorder.write(to: folder["copy"])
        recorder.stop()
        other.isSuspended = false
        gate.open()
        for queue in [queue, other] { try? await queue.waitUntilAllOperationsAreFinished() }
        let bytes = try Data(contentsOf: URL(filePath: folder["copy"]))
        return bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
    }

    /// Reads words as a recording, and uses all of the trace. Returns the trace; nil if the words were refused.
    @discardableResult
    private func read(_ words: [UInt64], drawing: Bool = true) -> Trace? {
        guard let reader = try? RecordReader(words, path: "path") else { return nil }
        let trace = reader.trace()
        use(trace, drawing)
        use(reader.trace(last: .seconds(1)), false)
        return trace
    }

    private func use(_ trace: Trace, _ drawing: Bool) {
        #expect(trace.operations.count + trace.waiting.count <= 10_000)
        for operation in trace.operations {
            let isInOrder = operation.added <= operation.ready && operation.ready <= operation.start
            #expect(isInOrder && operation.start <= operation.end)
            #expect((operation.dependencies + operation.awaited).allSatisfy(trace.operations.indices.contains))
            #expect(operation.slices.allSatisfy { $0.lane < trace.queues[operation.queue].laneCount })
        }
        #expect(trace.criticalPath.count <= trace.operations.count)
        if !drawing { return }
        #expect(trace.explanation.hasSuffix("\n") && trace.timelineSVG().hasSuffix("</svg>\n"))
        #expect(trace.perfettoJSON.hasSuffix("]\n"))
    }

    @Test("a file that is cut at any length is refused or read up to there")
    func truncated() async throws {
        let words = try await recording()
        let bytes = words.withUnsafeBytes { Data($0) }
        let whole = try #require(read(words))
        #expect(whole.operations.count == 4 && whole.waiting.count == 2)
        var counts: [Int] = []
        for length in stride(from: 0, through: bytes.count, by: isDeep ? 3 : 8) {
            try bytes.prefix(length).write(to: URL(filePath: folder["cut"]))
            guard let trace = try? Trace(contentsOf: folder["cut"]) else {
                #expect(length < 4096)
                continue
            }
            #expect(length >= 4096 && trace.textFaults == [])
            use(trace, false)
            counts.append(trace.operations.count + trace.waiting.count)
        }
        #expect(counts.first == 0 && counts.last == 6)
    }

    @Test("a file of which any byte is changed is refused or read in part")
    func changedBytes() async throws {
        let words = try await recording()
        var generator = SeededGenerator(seed: 1)
        // The words after the header's ten and after each chunk's records have no meaning.
        for place in words.indices where words[place] != 0 || place < 10 || place % 64 == 0 {
            for byte in 0..<8 {
                let change = UInt64(isDeep ? UInt8.max : 1 << generator.number(below: 8)) << UInt64(8 * byte)
                for mask in isDeep ? [0, 3, 7].map({ 1 << UInt64(8 * byte + $0) }) + [change] : [change] {
                    var changed = words
                    changed[place] ^= mask
                    read(changed, drawing: byte == 7)
                }
            }
        }
    }

    @Test("random words after a header are read in part, and random bytes are refused")
    func random() async throws {
        let words = try await recording()
        var generator = SeededGenerator(seed: 2)
        let header = Array(words.prefix(ChangeRing.Format.headerWords))
        for number in 0..<(isDeep ? 50_000 : 3_000) {
            var forged = header
            if number.isMultiple(of: 100) { forged = forged.map { _ in generator.next() } }
            for _ in 0...generator.number(below: 3) { forged += chunk(&generator) }
            let trace = read(forged, drawing: number.isMultiple(of: 8))
            #expect((trace == nil) == number.isMultiple(of: 100))
        }
    }

    /// A chunk of records with kinds that exist and with few queues, operations and numbers, or of any words.
    private func chunk(_ generator: inout SeededGenerator) -> [UInt64] {
        let count = generator.number(below: 65) * 4
        let flag: UInt64 = generator.happens(percent: 10) ? ChangeRing.Format.namesBit : 0
        var chunk = [
            UInt64(generator.number(below: 5)), UInt64(count) | flag, generator.next() >> 20, generator.next() >> 20,
        ]
        let isWild = generator.happens(percent: 5)
        for _ in 0..<63 {
            if isWild {
                chunk += (0..<4).map { _ in generator.next() }
                continue
            }
            let number = UInt64(generator.number(below: 20)) | UInt64(generator.number(below: 6)) << 32
            let times: [UInt64] = [0, 1, .max, 1 << 63, generator.next() >> UInt64(generator.number(below: 64))]
            let kind = UInt64(1 + generator.number(below: 20)) | (generator.happens(percent: 20) ? 0x80 : 0)
            chunk += [
                number, times[generator.number(below: 5)],
                UInt64(generator.number(below: 6)) << 5 | UInt64(generator.number(below: 256)) << 56,
                UInt64(generator.number(below: 3)) | kind << 56,
            ]
        }
        return chunk
    }

    @Test(
        "a large file of one record, many times over, is read in time and memory that its size allows",
        arguments: 1...18)
    func repeated(kind: Int) throws {
        let count = isDeep ? 130_000 : 13_000
        var words = [UInt64](repeating: 0, count: ChangeRing.Format.headerWords)
        words[ChangeRing.Format.magicPlace] = ChangeRing.Format.magic
        words[ChangeRing.Format.versionPlace] = ChangeRing.Format.version
        for isPresent in [false, true] {
            for changesArrival in [false, true] {
                var forged = words
                for chunk in 0..<count / 63 {
                    forged += [UInt64(chunk + 1), 256, 0, 0]
                    for record in 0..<63 {
                        let number = UInt64(chunk * 63 + record)
                        forged += [
                            number | (changesArrival ? number << 32 : 0), number, 1 << 5,
                            1 | UInt64(kind) << 56 | (isPresent ? ChangeRecord.presentBit : 0),
                        ]
                    }
                }
                let time = try processorTime {
                    let trace = try RecordReader(forged, path: "path").trace()
                    #expect(!trace.explanation.isEmpty && trace.timelineSVG().hasSuffix("</svg>\n"))
                    #expect(trace.perfettoJSON.hasSuffix("]\n"))
                }
                #expect(time < .seconds(isDeep ? 300 : 30))
            }
        }
    }

    @Test("a file that says that it has more chunks than it has is read up to its end")
    func wrongCount() async throws {
        var words = try await recording()
        for taken in [0, 1, UInt64(words.count), 1 << 40, 1 << 62, .max] {
            words[ChangeRing.Format.takenPlace] = taken
            try words.withUnsafeBytes { Data($0) }.write(to: URL(filePath: folder["wrong"]))
            let trace = try Trace(contentsOf: folder["wrong"])
            #expect(trace.operations.count == (taken < 2 ? trace.operations.count : 4))
        }
    }

    @Test("a file of another version is refused with both versions")
    func version() async throws {
        var words = try await recording()
        words[ChangeRing.Format.versionPlace] = 7
        try words.withUnsafeBytes { Data($0) }.write(to: URL(filePath: folder["wrong"]))
        do {
            _ = try Trace(contentsOf: folder["wrong"])
            Issue.record("the file was read")
        } catch {
            #expect("\(error)" == "\(folder["wrong"]): is a recording of version 7. This program reads version 1.")
        }
    }
}
