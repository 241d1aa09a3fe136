internal import TaskOperations

/// The names of the files of a journal.
enum JournalPath {
    /// The ending of a file that is not complete.
    static let draft = ".new"
    private static let ending = ".journal"

    static func segment(_ number: UInt32, in directory: String) -> String {
        let digits = "\(number)"
        return "\(directory)/\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits)\(ending)"
    }

    /// The number of a segment; nil if the name is not that of a segment.
    static func number(_ name: String) -> UInt32? {
        name.hasSuffix(ending) ? UInt32(name.dropLast(ending.count)) : nil
    }

    static func lock(in directory: String) -> String { "\(directory)/lock" }

    /// The file that says that a synchronization has failed.
    static func mark(in directory: String) -> String { "\(directory)/rewrite" }
}

/// The state of a journal, as its records describe it.
struct JournalReplay {
    var core: InMemoryEngineState<JournalPosition>
    let now: Duration
    let wallTime: UInt64
    private var lastID = 0

    init(_ core: InMemoryEngineState<JournalPosition>, now: Duration, wallTime: UInt64) {
        (self.core, self.now, self.wallTime) = (core, now, wallTime)
    }

    mutating func apply(_ record: JournalRecord, at position: JournalPosition) {
        switch record {
        case .put(let put):
            if put.replaced != 0 { core.remove(put.replaced) }
            // Identities ascend. A record with another one was not written by an engine.
            if put.id <= lastID { return }
            lastID = put.id
            restore(put, at: position)
        case .deliver(let id, let attempt, let failures):
            core.restore(id, attempt: attempt, failures: failures, isHeld: true)
            core.restoreEnd(nil, of: id)
        case .reject(let id, let failures, let time, let delay, let reason):
            core.restore(id, failures: failures, isHeld: false, reason: reason)
            core.restoreEnd(end(time, delay), of: id)
        case .bury(let id, let failures, let reason):
            core.restore(id, failures: failures, isHeld: false, isDead: true, reason: reason)
        case .remove(let id): core.remove(id)
        }
    }

    private mutating func restore(_ put: JournalPut, at position: JournalPosition) {
        var entry = InMemoryEngineState<JournalPosition>.Entry(
            id: put.id, payload: position, priority: put.priority)
        (entry.attempt, entry.failures) = (put.attempt, put.failures)
        if put.isDead { entry.status = .dead }
        let options = EnqueueOptions(identity: put.identity, key: put.key)
        core.restore(entry, isHeld: put.isHeld, key: options.laneKey, identity: put.identity, reason: put.reason)
        core.restoreEnd(end(put.time, put.delay), of: put.id)
    }

    /// The end of a delay; nil if it is over. If the clock was set back, the whole delay begins again.
    private func end(_ time: UInt64, _ delay: UInt64) -> Duration? {
        let passed = wallTime > time ? wallTime - time : 0
        return delay > passed ? now + Duration.milliseconds(Int64(min(delay - passed, 1 << 50))) : nil
    }
}

/// A journal that was opened, and that its thread serves.
struct OpenedJournal {
    let store: JournalStore
    let lock: JournalFile
    let segment: JournalFile
    let number: UInt32
    let end: Int
    let sizes: [UInt32: Int]
    /// Whether the records must be copied before a caller relies on them.
    let mustRewrite: Bool

    init(_ directory: String, _ configuration: JournalConfiguration) throws(JournalError) {
        let fault = configuration.fault
        try JournalFile.createFolder(directory, fault)
        lock = try Self.lock(directory, fault)
        let names = try JournalFile.names(in: directory, fault)
        var readers = try Self.readers(directory, names, fault)
        let clock = RelativeClock(configuration.clock)
        var replay = JournalReplay(
            InMemoryEngineState(lease: configuration.lease, maxAttempts: configuration.maxAttempts) { Int($0.length) },
            now: clock.now, wallTime: configuration.wallClock())
        var (files, sizes) = ([UInt32: JournalFile](), [UInt32: Int]())
        for index in readers.indices {
            let end = try readers[index].read(isLast: index == readers.count - 1) { replay.apply($0, at: $1) }
            files[readers[index].header.number] = readers[index].file
            sizes[readers[index].header.number] = end
        }
        for reader in readers { replay.core.restoreLastID(reader.header.lastID) }
        if let last = readers.last {
            number = last.header.number
            segment = try JournalFile(last.file.path, .append, fault)
            if try segment.size > sizes[number]! { try segment.truncate(to: sizes[number]!) }
        } else {
            let header = SegmentHeader(isBase: true, number: 1, previous: 0, lastID: 0)
            (number, segment) = (1, try JournalFile.createSegment(header, in: directory, fault))
        }
        end = sizes.removeValue(forKey: number) ?? SegmentHeader.size
        files[number] = segment
        self.sizes = sizes
        mustRewrite = names.contains("rewrite")
        for name in names
        where name.hasSuffix(JournalPath.draft) || JournalPath.number(name).map({ files[$0] == nil }) ?? false {
            try JournalFile.remove("\(directory)/\(name)", fault)
        }
        replay.core.activate()
        var state = JournalState(pulls: EnginePulls(replay.core))
        state.files = files
        state.fileSize = sizes.values.reduce(end, +)
        store = JournalStore(directory, configuration, clock: clock, state)
        store.change { _, _ in }
    }

    private static func lock(_ directory: String, _ fault: @escaping FileFault) throws(JournalError) -> JournalFile {
        let lock = try JournalFile(JournalPath.lock(in: directory), .create, fault)
        if try !lock.lock() {
            let holder = try lock.bytes(at: 0, count: 20)
            throw .inUse(directory: directory, process: String(decoding: holder, as: UTF8.self))
        }
        try lock.truncate(to: 0)
        try lock.write(Array(JournalFile.processNumber.utf8))
        return lock
    }

    /// The readers of the segments, from the last one that replaces the earlier ones.
    static func readers(
        _ directory: String, _ names: [String], _ fault: @escaping FileFault
    ) throws(JournalError) -> [SegmentReader] {
        var readers: [SegmentReader] = []
        for number in names.compactMap(JournalPath.number).sorted().reversed() {
            let path = JournalPath.segment(number, in: directory)
            let reader = try SegmentReader(JournalFile(path, .read, fault))
            if reader.header.number != number { throw .damaged(file: path, offset: 12) }
            // The predecessor of the later segment, or a base that has replaced it.
            if let next = readers.last?.header, next.previous != number, !reader.header.isBase || number < next.previous
            {
                throw .missing(file: JournalPath.segment(next.previous, in: directory))
            }
            readers.append(reader)
            if reader.header.isBase { return readers.reversed() }
        }
        if let first = readers.last {
            throw .missing(file: JournalPath.segment(first.header.previous, in: directory))
        }
        return []
    }
}
