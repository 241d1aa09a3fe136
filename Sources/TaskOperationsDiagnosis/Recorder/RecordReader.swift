internal import CTaskOperations
import TaskOperations

/// Makes a trace from the words of a ring of change records.
///
/// A file may be damaged. The reader takes a record as a whole or not at all. Records that it does not understand are
/// missing from the trace.
struct RecordReader {
    private typealias Format = ChangeRing.Format
    private typealias Kind = ChangeRecord.Kind

    private struct Change {
        let kind: Kind
        /// Whether the record repeats a present state.
        let isPresent: Bool
        let queue: UInt64
        let number: UInt32
        let arrival: UInt32
        let operation: UInt64
        let detail: UInt8
        let value: UInt64
        /// The chunk's generation and the record's place there, which order the records of a stripe.
        let order: (generation: UInt64, place: Int)

        init?(_ words: ArraySlice<UInt64>, generation: UInt64) {
            let first = words.startIndex
            guard let kind = Kind(rawValue: UInt8(words[first + 3] >> 56) & 0x7F) else { return nil }
            self.kind = kind
            isPresent = words[first + 3] & ChangeRecord.presentBit != 0
            queue = words[first + 3] & 0xFF_FFFF_FFFF_FFFF
            number = UInt32(truncatingIfNeeded: words[first])
            arrival = UInt32(words[first] >> 32)
            operation = words[first + 2] & 0xFF_FFFF_FFFF_FFFF
            detail = UInt8(words[first + 2] >> 56)
            value = words[first + 1]
            order = (generation, first)
        }

        /// 0 for the change of a number, and 1 for the descriptions of the same number, which may be in other chunks.
        var description: Int {
            switch kind {
            case .name, .dependency, .limit: 1
            default: isPresent ? 1 : 0
            }
        }

        /// Whether the value is the time of the change.
        var isTimed: Bool {
            switch kind {
            case .dependency, .limit, .waits, .name, .width: false
            default: true
            }
        }
    }

    private let words: [UInt64]
    private let path: String
    /// The ticks until which the recording is complete. Later records may lack others before them.
    private let seenUntil: UInt64
    private var queues: [UInt64: [Change]] = [:]
    /// The places of the chunks of names, by generation.
    private var namesPlaces: [UInt64: Int] = [:]
    /// The first and the last reading of both clocks.
    private let firstReading: (ticks: UInt64, nanoseconds: UInt64)
    private var lastReading: (ticks: UInt64, nanoseconds: UInt64)
    /// The ticks of the last record or chunk.
    private var lastTicks: UInt64

    /// - Parameters:
    ///   - limit: The ticks until which all records were written before the words were copied. Has no effect if the
    ///     recorder was stopped.
    ///   - reading: A present reading of both clocks of the recording system; nil if there is none.
    /// - Throws: `TraceError.file` if the words are not those of a ring.
    init(
        _ words: [UInt64], path: String, seenUntil limit: UInt64 = .max,
        reading: (ticks: UInt64, nanoseconds: UInt64)? = nil
    ) throws(TraceError) {
        (self.words, self.path) = (words, path)
        guard words.count >= Format.headerWords, words[Format.magicPlace] == Format.magic else {
            throw .file(path: path, reason: "is no recording of a FlightRecorder.")
        }
        let version = words[Format.versionPlace]
        if version != Format.version {
            throw .file(
                path: path,
                reason: "is a recording of version \(version). This program reads version \(Format.version).")
        }
        let isStopped = words[Format.stoppedPlace] != 0
        seenUntil = isStopped ? .max : limit
        firstReading = (words[Format.ticksPlace], words[Format.nanosecondsPlace])
        let end = isStopped ? (words[Format.endTicksPlace], words[Format.endNanosecondsPlace]) : reading
        lastReading = end ?? firstReading
        lastTicks = firstReading.ticks
        readChunks()
    }

    /// Reads a file, which a process may be writing.
    init(contentsOf path: String) throws(TraceError) {
        let now = Ticks.pair
        let first = try RecordReader(RecordedFile.read(path), path: path, seenUntil: now.ticks)
        if first.isStopped || first.isWritten(at: now.nanoseconds) {
            self = first
        } else {
            // All records up to the latest of a first reading are part of a second one.
            try self.init(RecordedFile.read(path), path: path, seenUntil: first.lastTicks)
        }
    }

    /// Whether a process of this system writes the file, whose ticks are then those of this process.
    private func isWritten(at now: UInt64) -> Bool {
        guard taskOperationsProcessExists(words[Format.processPlace]) != 0, now >= words[Format.nanosecondsPlace] else {
            return false
        }
        // Both clocks measure the same time, unless the system was started again.
        let age = now - words[Format.nanosecondsPlace]
        let wallAge = taskOperationsWallNanoseconds() &- words[Format.wallTimePlace]
        return max(age, wallAge) &- min(age, wallAge) < 10_000_000_000
    }

    var isStopped: Bool { words[Format.stoppedPlace] != 0 }

    // MARK: Chunks

    private mutating func readChunks() {
        var changes: [Change] = []
        for place in stride(from: Format.headerWords, to: words.count, by: Format.chunkWords) {
            guard words.count - place >= Format.chunkHeaderWords, words[place] != 0 else { continue }
            let count = words[place + 1] & ~Format.namesBit
            guard count <= Format.chunkWords, count >= Format.chunkHeaderWords else { continue }
            if words[place + 3] > lastReading.nanoseconds, words[place + 2] > lastReading.ticks {
                lastReading = (words[place + 2], words[place + 3])
            }
            lastTicks = max(lastTicks, words[place + 2])
            if words[place + 1] & Format.namesBit != 0 {
                namesPlaces[words[place]] = place
                continue
            }
            let end = min(place + Int(count), words.count)
            for first in stride(from: place + Format.chunkHeaderWords, to: end - 3, by: Format.recordWords) {
                guard let change = Change(words[first..<first + 4], generation: words[place]) else { continue }
                changes.append(change)
                if change.isTimed { lastTicks = max(lastTicks, change.value) }
            }
        }
        queues = Dictionary(grouping: changes, by: \.queue).mapValues { complete($0) }
    }

    /// Returns the changes of a queue without gaps, in their order.
    private func complete(_ unordered: [Change]) -> [Change] {
        // Numbers have 32 bits and increase, so that differences to one of them give the order.
        let base = unordered.max { $0.order.generation < $1.order.generation }!.number
        func rank(_ change: Change) -> Int32 { Int32(bitPattern: change.number &- base) }
        let changes = unordered.sorted {
            (rank($0), $0.description, $0.order.generation, $0.order.place)
                < (rank($1), $1.description, $1.order.generation, $1.order.place)
        }
        var (first, end) = (Int32.min, Int32.max)
        var last: Int32?
        for change in changes where !change.isPresent {
            let rank = rank(change)
            let isLate = change.isTimed && change.value > seenUntil
            if let last, rank > last &+ 1 {
                // The ring no longer contains all changes before a gap. A late change after a gap was read before the
                // changes in the gap were written.
                if isLate { end = rank } else { first = rank }
            } else if isLate {
                end = rank
            }
            if end != .max { break }
            last = max(rank, last ?? rank)
        }
        return changes.filter { change in
            let rank = rank(change)
            return rank < end && (rank >= first || change.isPresent && rank >= first &- 1)
        }
    }

    // MARK: Values

    /// The time of ticks in seconds since the creation of the recorder.
    private func seconds(_ ticks: UInt64) -> Double {
        let passed = Double(Int64(bitPattern: ticks &- firstReading.ticks))
        let (span, time) = (
            lastReading.ticks &- firstReading.ticks, lastReading.nanoseconds &- firstReading.nanoseconds
        )
        // Two readings measure the rate better than the calibration of half a millisecond if they are further apart.
        let rate =
            time > 10_000_000 && span > 0
            ? Double(time) / Double(span) : Double(words[Format.ratePlace]) / 4_294_967_296
        return max(-1e9, min(1e9, passed * rate / 1e9))
    }

    private func name(at value: UInt64) -> String? {
        guard let chunk = namesPlaces[value >> 8] else { return nil }
        let place = chunk + Int(value & 0xFF)
        guard value & 0xFF >= UInt64(Format.chunkHeaderWords), place < words.count,
            words[place] <= UInt64(Format.maxNameBytes)
        else { return nil }
        let (byteCount, wordCount) = (Int(words[place]), (Int(words[place]) + 7) / 8)
        guard Int(value & 0xFF) + wordCount < Format.chunkWords, place + wordCount < words.count else { return nil }
        let bytes = words[place + 1..<place + 1 + wordCount].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        return String(decoding: bytes.prefix(byteCount), as: UTF8.self)
    }
}

// MARK: - Traces

extension RecordReader {
    /// The life of an operation, as its records describe it.
    fileprivate struct Life {
        let queue: Int
        let arrival: UInt32
        let identity: UInt64
        var name: String?
        /// Nil if the addition is older than the records.
        var added: Double?
        var ready: Double?
        var isBarrier = false
        var isDelayed = false
        var slices: [Period] = []
        /// The start of the slice in which the operation has a permit.
        var open: Double?
        var hasStarted = false
        var end: (time: Double, how: ChangeRecord.End)?
        var dependencies: [UInt64] = []
        /// The identities of awaited operations, with the time at which each wait ended.
        var awaited: [(target: UInt64, end: Double?)] = []
        /// The indices of the waits that have not ended.
        var openWaits: [Int] = []
        var limits: [String] = []
    }

    fileprivate struct QueueState {
        var width: Int?
        var isSuspended = false
        var lives: [UInt32: Int] = [:]
    }

    /// The properties of a queue that can hold back its operations at the end.
    fileprivate struct QueueView {
        let state: QueueState
        private(set) var first: Life?
        private(set) var firstBarrier: Life?
        private(set) var executingCount = 0

        init(state: QueueState) { self.state = state }

        mutating func add(_ life: Life) {
            if first.map({ life.arrival < $0.arrival }) ?? true { first = life }
            if life.isBarrier, firstBarrier.map({ life.arrival < $0.arrival }) ?? true { firstBarrier = life }
            if life.open != nil { executingCount += 1 }
        }
    }

    fileprivate struct Period {
        let start: Double
        let end: Double
        var lane = 0
    }

    /// Makes a trace.
    ///
    /// - Parameter duration: The time before the last record that the trace covers; nil for all records.
    func trace(last duration: Duration? = nil) -> Trace {
        var (trace, lives) = (Trace(), [Life]())
        var states: [QueueState] = []
        for (number, changes) in queues.sorted(by: { $0.key < $1.key }) {
            var state = QueueState()
            var label: String?
            for change in changes { apply(change, states.count, &state, &label, &lives, &trace) }
            // A queue without operations is not part of the trace.
            if state.lives.isEmpty { continue }
            trace.queues.append(
                Trace.Queue(
                    name: label ?? "unnamed queue \(number)", width: state.width == .max ? nil : state.width,
                    number: number))
            states.append(state)
        }
        let end = seconds(seenUntil == .max ? lastTicks : seenUntil)
        trace.isComplete = isStopped
        (trace.wallTime, trace.process) = (words[Format.wallTimePlace], words[Format.processPlace])
        trace.fill(
            lives.filter { $0.queue < states.count }, states, end, since: duration.map { end - $0 / .seconds(1) })
        return trace
    }

    private func apply(
        _ change: Change, _ queue: Int, _ state: inout QueueState, _ label: inout String?, _ lives: inout [Life],
        _ trace: inout Trace
    ) {
        if change.operation == 0 {
            switch change.kind {
            case .name: label = name(at: change.value) ?? label
            case .width: state.width = Int(clamping: change.value)
            case .suspended: state.isSuspended = true
            case .resumed: state.isSuspended = false
            default: break
            }
            return
        }
        let time = change.isTimed && change.value != 0 ? seconds(change.value) : nil
        let known = state.lives[change.arrival]
        if known == nil || change.kind == .added && !change.isPresent {
            state.lives[change.arrival] = lives.count
            lives.append(Life(queue: queue, arrival: change.arrival, identity: change.operation))
        }
        let index = state.lives[change.arrival]!
        switch change.kind {
        case .added:
            // The present limits and waits follow.
            lives[index].limits = []
            lives[index].awaited.removeAll { $0.end == nil }
            lives[index].openWaits = []
            lives[index].added = lives[index].added ?? time
            lives[index].isBarrier = change.detail & 0x40 != 0
            lives[index].isDelayed = change.detail & 0x20 != 0
            if change.detail & 0x80 != 0 { lives[index].ready = lives[index].ready ?? time ?? 0 }
        case .started where lives[index].hasStarted: break
        case .ready: lives[index].ready = time
        case .started, .returned:
            lives[index].hasStarted = true
            if lives[index].open == nil, lives[index].end == nil {
                lives[index].open = max(time ?? 0, lives[index].slices.last?.end ?? -.infinity)
            }
        case .lent, .finished:
            if let start = lives[index].open, let time {
                // When a present state began is not known.
                lives[index].slices.append(Period(start: start, end: change.isPresent ? start : max(start, time)))
                lives[index].open = nil
            }
            if change.kind == .finished {
                lives[index].end = (time ?? 0, ChangeRecord.End(rawValue: change.detail) ?? .failed)
            }
        case .cancelled: trace.cancellationCount += 1
        case .dependency:
            let known = lives[index].dependencies
            if known.count < 64, !known.contains(change.value) { lives[index].dependencies.append(change.value) }
        case .limit: lives[index].limits.append(name(at: change.value) ?? "")
        case .name: lives[index].name = name(at: change.value) ?? lives[index].name
        case .waits:
            lives[index].openWaits.append(lives[index].awaited.count)
            lives[index].awaited.append((change.value, nil))
        case .waited:
            let wait = lives[index].openWaits.firstIndex {
                ChangeRecord.waitDetail(lives[index].awaited[$0].target) == change.detail
            }
            if let wait { lives[index].awaited[lives[index].openWaits.remove(at: wait)].end = time ?? 0 }
        case .level, .attempt, .width, .suspended, .resumed: break
        }
    }
}

extension Trace {
    fileprivate mutating func fill(
        _ lives: [RecordReader.Life], _ states: [RecordReader.QueueState], _ end: Double, since: Double?
    ) {
        let begin = since ?? -.infinity
        // An operation of which only the end is known is not part of the trace.
        let covered = lives.filter { life in
            life.end.map { $0.time >= begin && (life.added != nil || life.hasStarted) } ?? true
        }
        var started = covered.filter(\.hasStarted).sorted { $0.start < $1.start }
        for index in started.indices {
            guard let open = started[index].open else { continue }
            started[index].slices.append(RecordReader.Period(start: open, end: max(open, end)))
        }
        assignLanes(&started)
        operations = started.map { Operation($0) }
        beginning = operations.map(\.added).min() ?? 0
        duration = (operations.map(\.end).max() ?? 0) - beginning
        connect(started)
        let owners = AddressOwners(covered)
        for (place, life) in started.enumerated() where life.end == nil {
            operations[place].awaits = life.openWaits.map { wait in
                owners.owner(of: life.awaited[wait].target).map { covered[$0].label }
            }
        }
        var views = states.map { RecordReader.QueueView(state: $0) }
        for life in covered where life.end == nil { views[life.queue].add(life) }
        for life in covered where !life.hasStarted && life.end == nil {
            let blockers = life.dependencies.compactMap { identity -> String? in
                guard let owner = owners.owner(of: identity) else { return "an operation that was not added" }
                return covered[owner].end == nil ? covered[owner].label : nil
            }
            waiting.append(Waiting(life, blockers, views[life.queue]))
        }
        waiting.sort { ($0.added, $0.queue, $0.number) < ($1.added, $1.queue, $1.number) }
    }

    /// Gives each slice a lane of its queue that is free then.
    private mutating func assignLanes(_ lives: inout [RecordReader.Life]) {
        var changes: [(time: Double, isStart: Bool, life: Int, slice: Int)] = []
        for (life, value) in lives.enumerated() {
            for (slice, period) in value.slices.enumerated() {
                changes.append((period.start, true, life, slice))
                // A slice without duration ends when it has started.
                if period.end > period.start { changes.append((period.end, false, life, slice)) }
            }
        }
        changes.sort { ($0.time, $0.isStart ? 1 : 0) < ($1.time, $1.isStart ? 1 : 0) }
        var free = [[Int]](repeating: [], count: queues.count)
        for change in changes {
            let queue = lives[change.life].queue
            let slice = lives[change.life].slices[change.slice]
            if change.isStart {
                let lane = free[queue].popLast() ?? queues[queue].laneCount
                queues[queue].laneCount = max(queues[queue].laneCount, lane + 1)
                lives[change.life].slices[change.slice].lane = lane
                if slice.end <= slice.start { free[queue].append(lane) }
            } else {
                free[queue].append(slice.lane)
            }
        }
    }

    /// Sets the dependencies and the awaited operations.
    private mutating func connect(_ started: [RecordReader.Life]) {
        let owners = AddressOwners(started)
        for (place, life) in started.enumerated() {
            operations[place].dependencies = life.dependencies.compactMap { owners.owner(of: $0, before: life.start) }
                .filter { $0 != place }
            operations[place].awaited = life.awaited.compactMap {
                owners.owner(of: $0.target, before: $0.end ?? .infinity)
            }.filter { $0 != place }
        }
    }
}

/// The operations that had an address, one after the other. An operation keeps the operations that it depends on or
/// awaits until its own end. So the last owner before that time is the right one.
private struct AddressOwners {
    private var owners: [UInt64: [(added: Double, index: Int)]] = [:]

    init(_ lives: [RecordReader.Life]) {
        for (index, life) in lives.enumerated() { owners[life.identity, default: []].append((life.added ?? 0, index)) }
        for identity in owners.keys { owners[identity]!.sort { $0.added < $1.added } }
    }

    /// The index of the last operation with an address that was added before a time. Takes logarithmic time.
    func owner(of identity: UInt64, before time: Double = .infinity) -> Int? {
        guard identity != 0, let owners = owners[identity] else { return nil }
        return owners[..<owners.partitioningIndex { $0.added > time }].last?.index
    }
}

extension RecordReader.Life {
    fileprivate var label: String { name ?? "#\(arrival)" }

    fileprivate var start: Double { slices.first?.start ?? open ?? 0 }
}

extension Trace.Operation {
    fileprivate init(_ life: RecordReader.Life) {
        let start = life.start
        let added = min(life.added ?? start, start)
        self.init(
            name: life.label, queue: life.queue, number: Int(life.arrival), added: added,
            ready: min(max(life.ready ?? added, added), start),
            slices: life.slices.map { Trace.Slice(start: $0.start, end: $0.end, lane: $0.lane) },
            outcome: Trace.Outcome(life.end?.how))
    }
}

extension Trace.Outcome {
    fileprivate init(_ end: ChangeRecord.End?) {
        self =
            switch end {
            case nil: .unfinished
            case .succeeded: .succeeded
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .dependencyFailed: .dependencyFailed
            case .failed, .dropped, .limitFull, .withdrawn: .failed
            }
    }
}

extension Trace.Waiting {
    fileprivate init(_ life: RecordReader.Life, _ blockers: [String], _ queue: RecordReader.QueueView) {
        (name, self.queue, number) = (life.label, life.queue, Int(life.arrival))
        added = life.added ?? 0
        if life.ready == nil {
            reasons = blockers.map { .dependency($0) }
            if life.isDelayed { reasons.append(.delay) }
            return
        }
        if queue.state.isSuspended { reasons.append(.suspension) }
        let barrier = queue.firstBarrier.flatMap { $0.arrival < life.arrival ? $0 : nil }
        if let barrier { reasons.append(.barrier(barrier.label)) }
        if life.isBarrier, barrier == nil, let first = queue.first, first.arrival < life.arrival {
            reasons.append(.barrier(first.label))
        }
        if let width = queue.state.width, queue.executingCount >= width { reasons.append(.permit) }
        reasons += life.limits.map { .limit($0) }
    }
}
