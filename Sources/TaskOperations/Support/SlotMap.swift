/// Values at small, stable numbers, which are called slots. The slot of a removed value is used again. Every call takes
/// amortised constant time unless its comment says otherwise.
///
/// Values are stored in chunks, and an empty chunk uses no memory. After a burst, the map therefore keeps only the
/// chunks of the remaining values.
struct SlotMap<Value> {
    private typealias Chunk = SlotChunk<Value>

    /// A slot consists of a chunk's number and four bits for the position in the chunk.
    private var chunks: [Chunk?] = []
    /// The number of the chunk that is being filled. The chunk may be full, or not exist.
    private var filling = 0
    /// The numbers of all other chunks with room, including freed chunks. Includes numbers that no chunk has any more.
    private(set) var roomy: [Int] = []
    private(set) var count = 0

    subscript(slot: Int) -> Value {
        _read { yield chunks[slot >> Chunk.shift]!.values[slot & Chunk.mask] }
        _modify { yield &uniqueChunk(slot >> Chunk.shift).values[slot & Chunk.mask] }
    }

    /// Calls a function with a value in place, in one access.
    @inline(__always)
    func read<Result>(_ slot: Int, _ body: (borrowing Value) -> Result) -> Result {
        body(chunks[slot >> Chunk.shift].unsafelyUnwrapped.values[slot & Chunk.mask])
    }

    /// Changes a value in place, in one access.
    @inline(__always)
    mutating func update<Result>(_ slot: Int, _ change: (inout Value) -> Result) -> Result {
        change(&uniqueChunk(slot >> Chunk.shift).values[slot & Chunk.mask])
    }

    func holds(_ slot: Int) -> Bool {
        guard slot >= 0, slot >> Chunk.shift < chunks.count, let chunk = chunks[slot >> Chunk.shift] else {
            return false
        }
        return chunk.holds(slot & Chunk.mask)
    }

    /// All values in the order of their slots. Takes linear time in the number of values and the number of chunks.
    var all: [Value] {
        var all: [Value] = []
        all.reserveCapacity(count)
        for case let chunk? in chunks { chunk.forEach { all.append(chunk.values[$0]) } }
        return all
    }

    /// The slots that hold a value, in ascending order.
    var slots: [Int] {
        var slots: [Int] = []
        slots.reserveCapacity(count)
        for (number, chunk) in chunks.enumerated() { chunk?.forEach { slots.append(number << Chunk.shift + $0) } }
        return slots
    }

    /// The slot for the next value.
    var nextSlot: Int {
        mutating get {
            let number = chunkWithRoom()
            return number << Chunk.shift + (~(chunks[number]?.occupied ?? 0)).trailingZeroBitCount
        }
    }

    /// The number of values for which memory is allocated.
    var capacity: Int { chunks.reduce(0) { $0 + ($1 == nil ? 0 : Chunk.size) } }

    mutating func insert(_ value: Value) -> Int {
        let slot = nextSlot
        insert(value, at: slot)
        return slot
    }

    /// Inserts a value at the slot that `nextSlot` has just returned.
    mutating func insert(_ value: consuming Value, at slot: Int) {
        uniqueChunk(slot >> Chunk.shift).insert(value, at: slot & Chunk.mask)
        count += 1
    }

    @discardableResult
    mutating func remove(at slot: Int) -> Value {
        let number = slot >> Chunk.shift
        let (value, former, occupied) = uniqueChunk(number).remove(at: slot & Chunk.mask)
        count -= 1
        if count == 0, filling > 0 {
            restart()
            return value
        }
        // The chunk that is being filled keeps its memory, so that alternating insertions and removals allocate no
        // memory. No removal changes which chunk is filled. A thread that inserts and a thread that removes then use
        // different memory.
        if number == filling { return value }
        if former == .max { roomy.append(number) }
        if occupied == 0 { free(number) }
        return value
    }

    /// Makes the chunk that is being filled the only one. The slots of an empty map then begin at 0 again, and the list
    /// of chunks is short.
    private mutating func restart() {
        chunks = [filling < chunks.count ? chunks[filling] : nil]
        roomy = []
        filling = 0
    }

    private mutating func free(_ number: Int) {
        chunks[number] = nil
        while let last = chunks.last, last == nil { chunks.removeLast() }
        if chunks.count * 4 < chunks.capacity, chunks.capacity > Chunk.size {
            chunks = chunks.map { $0 }
            roomy = roomy.filter { $0 < chunks.count }
        }
    }

    private mutating func chunkWithRoom() -> Int {
        if filling < chunks.count, chunks[filling]?.occupied != .max { return filling }
        while let number = roomy.popLast() {
            filling = number
            if number < chunks.count { return number }
        }
        filling = chunks.count
        chunks.append(nil)
        return filling
    }

    /// Returns a chunk that no copy of the map shares. Creates the chunk if it does not exist.
    @inline(__always)
    private mutating func uniqueChunk(_ number: Int) -> Chunk {
        if !isKnownUniquelyReferenced(&chunks[number]) { chunks[number] = chunks[number]?.copy() ?? Chunk.make() }
        return chunks[number].unsafelyUnwrapped
    }
}

// A map changes a chunk only if no other map shares it. Shared chunks are only read.
extension SlotMap: @unchecked Sendable where Value: Sendable {}

/// Memory for 16 values. An element is initialised only if its bit in the header is set.
///
/// Freeing an array of optionals would first examine each element: Cost, row 10. Small chunks keep an idle queue small.
private final class SlotChunk<Value>: ManagedBuffer<UInt16, Value> {
    static var shift: Int { 4 }
    static var size: Int { 16 }
    static var mask: Int { 15 }

    static func make() -> SlotChunk {
        // `create` returns an object of the class on which it is called.
        unsafeDowncast(create(minimumCapacity: size) { _ in 0 }, to: SlotChunk.self)
    }

    /// The positions that hold a value, one bit for each.
    var occupied: UInt16 { withUnsafeMutablePointerToHeader { $0.pointee } }

    // The pointer is valid during an access, because the map that makes the access has a reference to the chunk.
    var values: UnsafeMutablePointer<Value> { withUnsafeMutablePointerToElements { $0 } }

    func holds(_ place: Int) -> Bool { occupied & (1 << UInt16(place)) != 0 }

    func insert(_ value: consuming Value, at place: Int) {
        (values + place).initialize(to: value)
        withUnsafeMutablePointerToHeader { $0.pointee |= 1 << UInt16(place) }
    }

    /// Removes a value. Returns it with the positions that held a value before and after.
    @inline(__always)
    func remove(at place: Int) -> (value: Value, former: UInt16, occupied: UInt16) {
        withUnsafeMutablePointers { header, values in
            let former = header.pointee
            precondition(former & (1 << UInt16(place)) != 0, "there is nothing at place \(place)")
            header.pointee = former & ~(1 << UInt16(place))
            return ((values + place).move(), former, header.pointee)
        }
    }

    /// Calls a function with each position that holds a value, in ascending order.
    func forEach(_ body: (Int) -> Void) {
        var left = occupied
        while left != 0 {
            body(left.trailingZeroBitCount)
            left &= left - 1
        }
    }

    func copy() -> SlotChunk {
        let copy = Self.make()
        forEach { copy.insert(values[$0], at: $0) }
        return copy
    }

    deinit {
        forEach { (values + $0).deinitialize(count: 1) }
    }
}
