import TaskOperations

/// A recorder's state for a queue.
struct TraceQueue: Sendable {
    /// An operation that is executing or has lent its permit.
    struct Started: Sendable {
        let added: Int
        let ready: Int
        /// The time at which the operation took its lane.
        var begin: Int
        /// The lane of the operation; nil while it has no permit.
        var lane: Int?
        var hasParts = false
    }

    /// A thread of the trace, which represents a lane.
    struct Thread: Sendable {
        let number: Int
        /// The last file that contains the name of the thread; -1 if there is none.
        var file = -1
    }

    let process: Int
    let label: QueueLabel
    /// The number of permits; nil if it is unknown.
    let width: Int?
    /// The last file that contains the name of the process; -1 if there is none.
    var file = -1
    /// The threads of the lanes.
    var threads: [Thread] = []
    /// A bit for each lane, set while an operation uses the lane.
    private var taken: [UInt64] = []
    var started: [UInt64: Started] = [:]
    /// For each operation that has not started, the times at which it was added and became ready.
    var waiting = TimeTable()
    var lastCount = Int.min

    init(process: Int, _ label: QueueLabel, width: Int?) {
        self.process = process
        self.label = label
        self.width = width
    }

    /// Takes and returns the lowest free lane.
    mutating func takeLane() -> Int {
        let word = taken.firstIndex { $0 != .max } ?? taken.count
        if word == taken.count { taken.append(0) }
        let bit = (~taken[word]).trailingZeroBitCount
        taken[word] |= 1 << UInt64(bit)
        return word * 64 + bit
    }

    mutating func freeLane(_ lane: Int) {
        taken[lane / 64] &= ~(1 << UInt64(lane % 64))
    }
}

/// The times at which the operations of a queue were added and became ready, by operation number. Each operation takes
/// 16 bytes. A chunk is freed when all its operations have started.
struct TimeTable: Sendable {
    fileprivate struct Chunk: Sendable {
        var times = [(added: Int, ready: Int)](repeating: (-1, -1), count: TimeTable.chunkSize)
        var count = 0
    }

    private static var chunkSize: Int { 64 }

    private var chunks: [UInt64: Chunk] = [:]
    private(set) var count = 0

    func contains(_ number: UInt64) -> Bool {
        chunks[number / UInt64(Self.chunkSize)].map { $0.times[Int(number % UInt64(Self.chunkSize))].added >= 0 }
            ?? false
    }

    mutating func add(_ number: UInt64, at time: Int) {
        chunks[number / UInt64(Self.chunkSize), default: Chunk()].add(Int(number % UInt64(Self.chunkSize)), time)
        count += 1
    }

    mutating func setReady(_ number: UInt64, at time: Int) {
        chunks[number / UInt64(Self.chunkSize)]?.times[Int(number % UInt64(Self.chunkSize))].ready = time
    }

    /// Removes and returns the times of an operation; nil if the table has no times of the operation.
    mutating func remove(_ number: UInt64) -> (added: Int, ready: Int)? {
        let key = number / UInt64(Self.chunkSize)
        guard let times = chunks[key]?.remove(Int(number % UInt64(Self.chunkSize))) else { return nil }
        if chunks[key]?.count == 0 { chunks[key] = nil }
        count -= 1
        return times
    }
}

extension TimeTable.Chunk {
    fileprivate mutating func add(_ place: Int, _ time: Int) {
        times[place] = (time, -1)
        count += 1
    }

    fileprivate mutating func remove(_ place: Int) -> (added: Int, ready: Int)? {
        let found = times[place]
        if found.added < 0 { return nil }
        times[place] = (-1, -1)
        count -= 1
        return found
    }
}
