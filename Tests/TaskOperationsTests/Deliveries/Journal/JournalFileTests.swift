import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

@Suite("The files of a journal", .inTurns, .endsInTime)
struct JournalFileTests {
    private let folder = JournalFolder()

    /// Creates a journal with each kind of record. Returns the sizes of the file after each record, and the texts that
    /// are waiting then.
    private func scenario() async throws -> [(size: Int, texts: [String])] {
        let engine = try await folder.open(.never)
        var steps: [(size: Int, texts: [String])] = [(SegmentHeader.size, [])]
        func note(_ texts: String...) { steps.append((engine.counts.fileSize, texts)) }
        try await engine.enqueue("a", options: EnqueueOptions(identity: "one"))
        note("a")
        try await engine.enqueue("bb", options: EnqueueOptions(key: "key", priority: .high))
        note("a", "bb")
        try await engine.enqueue("", options: EnqueueOptions(delay: .milliseconds(1)))
        note("a", "bb", "")
        let first = try await engine.next()
        note("a", "bb", "")
        try await first.reject(retryAfter: .milliseconds(1), because: TestFailure())
        note("a", "bb", "")
        let second = try await engine.next()
        note("a", "bb", "")
        try await second.acknowledge()
        note("bb", "")
        try await engine.enqueue("c", options: EnqueueOptions(identity: "two"))
        note("bb", "", "c")
        try await engine.enqueue("d", options: EnqueueOptions(identity: "two", replaces: true))
        note("bb", "", "d")
        await engine.close()
        return steps
    }

    /// Opens a copy of the journal whose only segment has other bytes.
    private func open(_ bytes: [UInt8]) async throws -> [String] {
        let copy = JournalFolder()
        try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: "\(copy.path)/00000001.journal"))
        let clock = ManualClock()
        let engine = try await copy.open(clock: clock)
        clock.advance(by: .seconds(1))
        let texts = try await engine.drain()
        await engine.close()
        return texts
    }

    private var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(filePath: folder.segment))) }
    }

    @Test("a segment that ends at any byte has its complete records")
    func tornSegment() async throws {
        let steps = try await scenario()
        let bytes = try bytes
        #expect(steps.last!.size == bytes.count)
        for size in 0...bytes.count {
            let part = Array(bytes[..<size])
            if size < SegmentHeader.size {
                await #expect(throws: JournalError.self) { try await open(part) }
                continue
            }
            let expected = steps.last { $0.size <= size }!.texts
            #expect(try await open(part).sorted() == expected.sorted(), "\(size) bytes")
        }
    }

    @Test("zeros after any complete record are the rest of an interrupted write")
    func zerosAtTheEnd() async throws {
        let steps = try await scenario()
        let bytes = try bytes
        for step in steps {
            for count in [1, 11, 12, 512, 4096] {
                let part = bytes[..<step.size] + [UInt8](repeating: 0, count: count)
                #expect(try await open(Array(part)).sorted() == step.texts.sorted())
            }
        }
        // The first bytes of a record, and zeros in place of the others.
        for size in steps[7].size + 1..<steps[8].size {
            let part = bytes[..<size] + [UInt8](repeating: 0, count: steps[8].size - size)
            #expect(try await open(Array(part)).sorted() == steps[7].texts.sorted())
        }
    }

    @Test("a flipped bit in any byte is an error that names the file and the record, and no file is changed")
    func flippedBits() async throws {
        let steps = try await scenario()
        let bytes = try bytes
        for index in bytes.indices {
            for bit in isDeep ? Array(0..<8) : [index % 8] {
                var changed = bytes
                changed[index] ^= 1 << bit
                let copy = JournalFolder()
                try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
                let file = "\(copy.path)/00000001.journal"
                try Data(changed).write(to: URL(filePath: file))
                let offset = index < SegmentHeader.size ? 0 : steps.last { $0.size <= index }!.size
                await #expect(throws: JournalError.damaged(file: file, offset: offset), "byte \(index), bit \(bit)") {
                    _ = try await copy.open()
                }
                #expect([UInt8](try Data(contentsOf: URL(filePath: file))) == changed)
            }
        }
    }

    @Test("a payload that is damaged while the journal is open is a dead letter, and the others are delivered")
    func damageWhileOpen() async throws {
        let engine = try await folder.open()
        try await engine.enqueue("first")
        let size = engine.counts.fileSize
        try await engine.enqueue("second")
        var changed = try bytes
        changed[size - 2] ^= 1
        let file = try FileHandle(forUpdating: URL(filePath: try folder.segment))
        try file.write(contentsOf: changed)
        #expect(try await engine.next().payload == "second")
        #expect(engine.deadLetters.map(\.id) == [1])
        let segment = try folder.segment
        await #expect(throws: JournalError.damaged(file: segment, offset: 32)) {
            try await engine.payload(of: 1)
        }
    }

    // MARK: - Versions

    @Test("a newer version is refused by its name")
    func newerVersion() async throws {
        _ = try await scenario()
        var header = try SegmentHeader(bytes, ofFile: "")
        header.version = 2
        let changed = header.bytes + (try bytes)[SegmentHeader.size...]
        let error = await #expect(throws: JournalError.self) { try await open(changed) }
        guard case .newerVersion(let file, 2) = error else { throw error! }
        #expect(file.hasSuffix("00000001.journal") && "\(error!)".contains("has version 2 of the format"))
    }

    @Test("a missing segment, and one with another number, are errors that name the file")
    func missingSegment() async throws {
        let engine = try await folder.open { $0.segmentSize = 100 }
        for number in 0..<6 { try await engine.enqueue("\(number)") }
        await engine.close()
        let segments = try folder.segments
        #expect(segments.count > 3)
        for name in segments.dropLast() {
            let copy = try folder.copy()
            try FileManager.default.removeItem(atPath: "\(copy.path)/\(name)")
            await #expect(throws: JournalError.missing(file: "\(copy.path)/\(name)")) { _ = try await copy.open() }
        }
        let copy = try folder.copy()
        try FileManager.default.removeItem(atPath: "\(copy.path)/\(segments[1])")
        try FileManager.default.copyItem(
            atPath: "\(copy.path)/\(segments[2])", toPath: "\(copy.path)/\(segments[1])")
        await #expect(throws: JournalError.damaged(file: "\(copy.path)/\(segments[1])", offset: 12)) {
            _ = try await copy.open()
        }
    }

    // MARK: - Failures of the system

    /// A fault that fails calls after the first ones.
    private final class Fault: Sendable {
        private let state: Lock<(call: FileCall, code: Int32)?> = Lock(nil)

        func set(_ call: FileCall?, _ code: Int32 = 0) { state.withLock { $0 = call.map { ($0, code) } } }

        var function: FileFault {
            { [self] call, _ in state.withLock { $0?.call == call ? $0!.code : 0 } }
        }
    }

    @Test(
        "a full disk and a failed fsync are errors of the caller; the engine accepts nothing until it is opened again",
        arguments: [(FileCall.write, ENOSPC), (.fsync, EIO)])
    func failedCall(call: FileCall, code: Int32) async throws {
        let fault = Fault()
        var engine = try await folder.open(.everyRecord) { $0.fault = fault.function }
        try await engine.enqueue("a")
        let held = try await engine.next()
        fault.set(call, code)
        let error = JournalError.systemCall(call.rawValue, file: try folder.segment, code: code)
        await #expect(throws: error) { try await engine.enqueue("b") }
        fault.set(nil)
        await #expect(throws: error) { try await engine.enqueue("c") }
        await #expect(throws: error) { try await held.acknowledge() }
        await #expect(throws: error) { _ = try await engine.next() }
        await engine.close()
        let size = engine.counts.fileSize
        engine = try await folder.open(.everyRecord) { $0.fault = fault.function }
        if call == .fsync {
            // The bytes were written once more.
            #expect(try folder.segments.first != "00000001.journal")
        } else {
            #expect(engine.counts.fileSize == size)
        }
        #expect(try await engine.next().payload == "a")
        await engine.close()
    }

    @Test("a failed fsync of the interval is the error of the next call")
    func failedInterval() async throws {
        let fault = Fault()
        let engine = try await folder.open(.interval(.milliseconds(1))) { $0.fault = fault.function }
        fault.set(.fsync, EIO)
        #expect(
            await eventually {
                do { try await engine.enqueue("a") } catch JournalError.systemCall("fsync", _, EIO) {
                    return true
                } catch {}
                return false
            })
    }

    @Test("a directory that cannot be written is an error at the opening that names the file")
    func readOnly() async throws {
        for call in [FileCall.mkdir, .open, .flock, .write, .fsync, .rename] {
            let folder = JournalFolder()
            let error = await #expect(throws: JournalError.self) {
                _ = try await folder.open { $0.fault = { called, _ in called == call ? EROFS : 0 } }
            }
            guard case .systemCall(call.rawValue, let file, EROFS) = error else { throw error! }
            #expect(file.hasPrefix(folder.path))
        }
        // The root user may write everywhere.
        if getuid() == 0 { return }
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        chmod(folder.path, 0o555)
        await #expect(throws: JournalError.systemCall("open", file: "\(folder.path)/lock", code: EACCES)) {
            _ = try await folder.open()
        }
        chmod(folder.path, 0o755)
    }

    @Test("a directory that was removed is an error of the next call")
    func removedDirectory() async throws {
        let engine = try await folder.open()
        try await engine.enqueue("a")
        let segment = try folder.segment
        try FileManager.default.removeItem(atPath: folder.path)
        await #expect(throws: JournalError.removed(file: segment)) { try await engine.enqueue("b") }
        await engine.close()
        #expect(try await folder.open().counts.waiting == 0)
    }

    // MARK: - Compaction

    @Test("a compaction keeps each delivery with its attempts, order, identity and delay")
    func compaction() async throws {
        let clock = ManualClock()
        var engine = try await folder.open(clock: clock)
        for number in 0..<100 { try await engine.enqueue("\(number)", options: EnqueueOptions(key: "\(number % 3)")) }
        try await engine.enqueue("one", options: EnqueueOptions(identity: "one", priority: .low))
        try await engine.enqueue("late", options: EnqueueOptions(delay: .seconds(5)))
        for _ in 0..<60 { try await engine.next().acknowledge() }
        try await engine.next().reject(retryAfter: .zero, because: TestFailure())
        let held = try await engine.next()
        let size = engine.counts.fileSize
        try await engine.compact()
        #expect(engine.counts.fileSize < size / 2)
        #expect(engine.counts.waiting == 41)
        try await held.reject(retryAfter: .zero)
        await engine.close()
        engine = try await folder.open(clock: clock)
        #expect(try await engine.enqueue("", options: EnqueueOptions(identity: "one")) == 101)
        var texts = try await engine.drain()
        #expect(texts.removeLast() == "one")
        for rest in 0..<3 {
            let numbers = texts.compactMap { Int($0) }.filter { $0 % 3 == rest }
            #expect(numbers == numbers.sorted() && numbers.last! + 3 >= 100)
        }
        #expect(texts.count == 40)
        clock.advance(by: .seconds(5))
        #expect(try await engine.drain() == ["late"])
        #expect(try await engine.enqueue("next") == 103)
    }

    @Test("files that contain mostly acknowledged deliveries are compacted, while other calls continue")
    func automaticCompaction() async throws {
        let engine = try await folder.open { configuration in
            configuration.compactionThreshold = 10_000
            configuration.segmentSize = 5_000
        }
        for number in 0..<2000 {
            try await engine.enqueue("\(number)")
            try await engine.next().acknowledge()
        }
        try await engine.compact()
        #expect(try folder.segments.count == 2)
        #expect(engine.counts.fileSize < 1000)
    }

    @Test("a compaction that fails leaves the journal usable, and its error is that of the caller")
    func failedCompaction() async throws {
        for call in [FileCall.open, .write] {
            let folder = JournalFolder()
            let isFailing = Recorder<Void>()
            var engine = try await folder.open {
                $0.fault = { called, path in
                    called == call && !isFailing.events.isEmpty && path.hasSuffix(".new") ? ENOSPC : 0
                }
            }
            for number in 0..<10 { try await engine.enqueue("\(number)") }
            isFailing.record(())
            await #expect(throws: JournalError.self) { try await engine.compact() }
            try await engine.enqueue("10")
            await engine.close()
            engine = try await folder.open()
            #expect(try await engine.drain() == (0..<11).map { "\($0)" })
            #expect(try folder.segments.allSatisfy { !$0.hasSuffix(".new") })
            await engine.close()
        }
    }

    // MARK: - Kills

    /// The state of the files before a call of the system, and the results of the calls that had returned.
    private struct Moment: Sendable {
        let files: JournalFolder
        let added: Set<String>
        /// The payloads whose removal had begun.
        let removing: Set<String>
        let removed: Set<String>
    }

    @Test("a process that is killed before any call of the system loses nothing and repeats nothing", arguments: 0..<4)
    func kills(seed: UInt64) async throws {
        struct Progress: Sendable {
            var moments: [Moment] = []
            var added: Set<String> = []
            var removing: Set<String> = []
            var removed: Set<String> = []
        }
        let progress = Lock(Progress())
        let engine = try await folder.open(seed % 2 == 0 ? .everyRecord : .never) { configuration in
            configuration.segmentSize = 800
            configuration.compactionThreshold = 600
            configuration.fault = { [folder] call, _ in
                if call == .read || call == .opendir { return 0 }
                progress.withLock { progress in
                    guard let files = try? folder.copy() else { return }
                    progress.moments.append(
                        Moment(
                            files: files, added: progress.added, removing: progress.removing,
                            removed: progress.removed))
                }
                return 0
            }
        }
        var generator = SeededGenerator(seed: seed)
        for number in 0..<(isDeep ? 150 : 40) {
            let text = "\(number)"
            let key = "\(generator.number(below: 3))"
            try await engine.enqueue(text, options: EnqueueOptions(identity: text, key: key))
            progress.withLock { _ = $0.added.insert(text) }
            if generator.number(below: 3) == 0 { continue }
            if !engine.isReady { continue }
            let delivery = try await engine.next()
            switch generator.number(below: 4) {
            case 0: try await delivery.reject(retryAfter: .zero)
            case 1:
                let new = "\(delivery.payload)'"
                progress.withLock { _ = $0.removing.insert(delivery.payload) }
                let options = EnqueueOptions(identity: delivery.identity, replaces: true, key: delivery.key)
                try await engine.enqueue(new, options: options)
                progress.withLock { progress in
                    progress.added.insert(new)
                    progress.removed.insert(delivery.payload)
                }
                try await delivery.reject(retryAfter: .zero)
            default:
                progress.withLock { _ = $0.removing.insert(delivery.payload) }
                try await delivery.acknowledge()
                progress.withLock { _ = $0.removed.insert(delivery.payload) }
            }
            if number % 20 == 19 { try await engine.compact() }
        }
        await engine.close()
        let moments = progress.withLock { $0.moments }
        #expect(moments.count > 50)
        for (index, moment) in moments.enumerated() {
            // The first calls create the files.
            if moment.added.isEmpty { continue }
            let engine = try await moment.files.open()
            let texts = try await engine.drain()
            #expect(Set(texts).count == texts.count, "before call \(index): \(texts)")
            #expect(moment.removed.isDisjoint(with: texts), "before call \(index): \(texts)")
            let missing = moment.added.subtracting(moment.removing).subtracting(texts)
            #expect(missing.isEmpty, "before call \(index): \(missing)")
            await engine.close()
        }
    }
}
