/// Values at small stable numbers, which are used again after a removal. Every call is constant time, amortised.
///
/// Values live in chunks, and a chunk that is empty has no memory. So after a burst the map keeps what the values
/// that are left need, wherever they are.
struct SlotMap<Value> {
    fileprivate struct Chunk {
        /// Empty, or `chunkSize` places.
        var values: [Value?] = []
        /// A bit for each place that holds a value.
        var occupied: UInt64 = 0
    }

    /// As many as an `occupied` has bits: a slot is a chunk's number and six bits for the place in it.
    private static var chunkSize: Int { 64 }

    private var chunks: [Chunk] = []
    /// Chunks that may have room, the last one to be filled first. Every chunk that has room is in here; one that has
    /// none, or is gone, is skipped when it comes up.
    private var roomy: [Int] = []
    private(set) var count = 0

    subscript(slot: Int) -> Value {
        _read { yield chunks[slot >> 6].values[slot & 63]! }
        _modify { yield &chunks[slot >> 6].values[slot & 63]! }
    }

    /// Does something with a value where it is, in one access.
    @inline(__always)
    mutating func update<Result>(_ slot: Int, _ change: (inout Value) -> Result) -> Result {
        change(&chunks[slot >> 6].values[slot & 63]!)
    }

    /// Whether there is a value at a slot.
    func holds(_ slot: Int) -> Bool {
        guard slot >= 0, slot >> 6 < chunks.count else { return false }
        return chunks[slot >> 6].occupied & Self.bit(of: slot) != 0
    }

    /// Every value, by slot. Linear in the values and a little for each chunk up to the last that holds any.
    var all: [Value] {
        var all: [Value] = []
        all.reserveCapacity(count)
        for chunk in chunks where chunk.occupied != 0 {
            for value in chunk.values { if let value { all.append(value) } }
        }
        return all
    }

    /// The slots that hold a value, in ascending order.
    var slots: [Int] { (0..<chunks.count * Self.chunkSize).filter(holds) }

    /// The slot that the next value gets.
    var nextSlot: Int {
        mutating get {
            let chunk = chunkWithRoom()
            return chunk * Self.chunkSize + (~chunks[chunk].occupied).trailingZeroBitCount
        }
    }

    /// How many values there is memory for.
    var capacity: Int { chunks.reduce(0) { $0 + $1.values.count } }

    mutating func insert(_ value: Value) -> Int {
        let slot = nextSlot
        insert(value, at: slot)
        return slot
    }

    /// Inserts a value at the slot that `nextSlot` has said just before.
    mutating func insert(_ value: Value, at slot: Int) {
        let chunk = slot >> 6
        if chunks[chunk].values.isEmpty { chunks[chunk].values = [Value?](repeating: nil, count: Self.chunkSize) }
        chunks[chunk].values[slot & 63] = value
        chunks[chunk].occupied |= Self.bit(of: slot)
        count += 1
    }

    @discardableResult
    mutating func remove(at slot: Int) -> Value {
        let chunk = slot >> 6
        let value = chunks[chunk].values[slot & 63].take()!
        let wasFull = chunks[chunk].occupied == .max
        chunks[chunk].occupied &= ~Self.bit(of: slot)
        count -= 1
        // The chunk that is filled next keeps its memory, for what comes and goes.
        if wasFull {
            let filledBefore = roomy.last
            roomy.append(chunk)
            if let filledBefore { freeIfEmpty(filledBefore) }
        } else if roomy.last != chunk {
            freeIfEmpty(chunk)
        }
        return value
    }

    private mutating func freeIfEmpty(_ chunk: Int) {
        guard chunk < chunks.count, chunks[chunk].occupied == 0 else { return }
        chunks[chunk].values = []
        while let last = chunks.last, last.values.isEmpty { chunks.removeLast() }
        if chunks.count * 4 < chunks.capacity, chunks.capacity > Self.chunkSize {
            chunks = Array(chunks)
            roomy = roomy.filter { $0 < chunks.count }
        }
    }

    private mutating func chunkWithRoom() -> Int {
        while let chunk = roomy.last {
            if chunk < chunks.count, chunks[chunk].occupied != .max { return chunk }
            roomy.removeLast()
        }
        chunks.append(Chunk())
        roomy.append(chunks.count - 1)
        return chunks.count - 1
    }

    private static func bit(of slot: Int) -> UInt64 { 1 << UInt64(slot & 63) }
}

extension SlotMap: Sendable where Value: Sendable {}
extension SlotMap.Chunk: Sendable where Value: Sendable {}
