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

    func contains(_ number: UInt64) -> Bool { addition(of: number) != nil }

    /// The time at which an operation was added; nil if the table has no times of the operation.
    func addition(of number: UInt64) -> Int? {
        let time = chunks[number / UInt64(Self.chunkSize)]?.times[Int(number % UInt64(Self.chunkSize))].added
        return time.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The time at which the first operation was added; nil if the table is empty. Linear in the number of chunks.
    var firstAddition: Int? {
        // Operations are added in the order of their numbers.
        chunks.min { $0.key < $1.key }?.value.times.lazy.map(\.added).first { $0 >= 0 }
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
