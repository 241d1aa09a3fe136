internal import CTaskOperations
import Synchronization
import TaskOperations

/// A ring of change records in memory, which another process may read while it is written.
///
/// The memory is a header and a ring of chunks. A chunk has 64 places of 32 bytes: its own header and 63 records, or
/// names to which records refer. Threads write to different chunks, so that they do not meet in one counter. A stripe
/// owns the chunk to which it appends; the owner of a stripe is a thread that holds the lock of a queue. A thread that
/// finds its stripe taken takes the next one, and never waits.
///
/// A reader accepts a chunk's records up to its count if the chunk's generation is the same before and after the copy
/// (a sequence lock, as in the Linux kernel). No record is torn: records below the count never change in a generation.
final class ChangeRing: ChangeRecorder, @unchecked Sendable {
    // The memory of `words`, `owned` and the stripes lives as long as the ring, and every access to it is atomic, by
    // functions of C, because other processes share it. A stripe's chunk is accessed only by the thread that has taken the
    // stripe.

    /// The numbers of the format. Sizes and places are in words of eight bytes.
    enum Format {
        static let magic: UInt64 = 0x3145_4341_5254_504F
        static let version: UInt64 = 1
        static let headerWords = 512
        static let chunkWords = 256
        static let chunkHeaderWords = 4
        static let recordWords = 4
        static let maxNameBytes = 256
        /// The bit of a chunk's count that marks a chunk of names.
        static let namesBit: UInt64 = 1 << 63

        /// The places of the header's words.
        static let magicPlace = 0
        static let versionPlace = 1
        static let processPlace = 2
        /// The time of the creation, in nanoseconds since 1970.
        static let wallTimePlace = 3
        static let ticksPlace = 4
        static let nanosecondsPlace = 5
        /// The nanoseconds of 2³² ticks, as measured at the creation.
        static let ratePlace = 6
        /// The number of chunks that were taken.
        static let takenPlace = 7
        /// The number of records that were dropped, because they found no free stripe or no memory.
        static let lostPlace = 8
        /// 1 after the recorder was stopped.
        static let stoppedPlace = 9
        /// The readings of both clocks at the end; 0 before.
        static let endTicksPlace = 10
        static let endNanosecondsPlace = 11
    }

    private struct Stripe {
        /// 1 while a thread has taken the stripe.
        var isTaken: UInt64 = 0
        var chunk = OwnedChunk()
        // A stripe fills two lines of a cache, so that threads of different stripes do not meet.
        let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
        let more: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
    }

    private struct OwnedChunk: Sendable {
        /// The place of the chunk; negative before the first record.
        var place = -1
        /// The place of the next word.
        var next = Format.chunkWords
        var generation: UInt64 = 0
    }

    private static var stripeCount: Int { 16 }

    private let words: UnsafeMutablePointer<UInt64>
    private let chunkCount: Int
    private let stripes: UnsafeMutablePointer<Stripe>
    /// For each chunk, 1 if a stripe owns it. A ring that grows uses only the memory for the chunks that exist.
    private let owned: UnsafeMutablePointer<UInt64>
    private let names: Lock<NameTable>
    /// See `init`.
    private let reserve: (@Sendable (_ wordCount: Int) -> Bool)?
    private let release: @Sendable () -> Void
    /// The number of the quarter that is written, of the last one in which all queues were described, and of timeouts.
    private let counters: UnsafeMutablePointer<UInt64>
    /// The recorded queues; nil if all queues are recorded, or after the end.
    private let own = Lock<[Scheduler]?>(nil)

    /// The number of the quarter of the ring that is written. A full ring contains the state of all queues even if the
    /// thread that writes it is late by half of the ring.
    var part: UInt64 { taskOperationsLoad(counters) }

    /// - Parameters:
    ///   - memory: Memory that contains only zeros.
    ///   - byteCount: At least `minimumSize`.
    ///   - reserve: Makes the memory available up to a number of words. Returns false if there is no room. Nil if all
    ///     memory is available.
    ///   - release: Called when the ring no longer uses the memory.
    init(
        _ memory: UnsafeMutableRawPointer, byteCount: Int, reserve: (@Sendable (_ wordCount: Int) -> Bool)? = nil,
        release: @escaping @Sendable () -> Void
    ) {
        words = memory.bindMemory(to: UInt64.self, capacity: byteCount / 8)
        chunkCount = (byteCount / 8 - Format.headerWords) / Format.chunkWords
        names = Lock(NameTable(chunkCount: chunkCount))
        self.reserve = reserve
        self.release = release
        stripes = .allocate(capacity: Self.stripeCount)
        stripes.initialize(repeating: Stripe(), count: Self.stripeCount)
        owned = taskOperationsZeroedMemory(8 * chunkCount)!.bindMemory(to: UInt64.self, capacity: chunkCount)
        counters = .allocate(capacity: 3)
        counters.initialize(repeating: 0, count: 3)
        // In the first quarter, each queue describes itself when its recording begins.
        counters[1] = 1
        writeHeader()
    }

    deinit {
        stripes.deallocate()
        counters.deallocate()
        taskOperationsFree(owned)
        release()
    }

    /// The smallest size of a ring in bytes: 64 chunks.
    static var minimumSize: Int { (Format.headerWords + 64 * Format.chunkWords) * 8 }

    private func writeHeader() {
        let (ticks, nanoseconds) = Ticks.pair
        let header: [(Int, UInt64)] = [
            (Format.versionPlace, Format.version), (Format.processPlace, taskOperationsProcessNumber()),
            (Format.wallTimePlace, taskOperationsWallNanoseconds()), (Format.ticksPlace, ticks),
            (Format.nanosecondsPlace, nanoseconds), (Format.ratePlace, Ticks.rate),
        ]
        for (place, value) in header { taskOperationsStore(words + place, value) }
        taskOperationsPublish(words + Format.magicPlace, Format.magic)
    }

    /// Begins to record, and writes the present states.
    ///
    /// - Parameter schedulers: The queues to record; nil for all queues of the process.
    func start(on schedulers: [Scheduler]?) {
        guard let schedulers else { return AllQueues.add(AllQueues.Listener(self)) }
        own.withLock { $0 = schedulers }
        for scheduler in schedulers { scheduler.addRecorder(self) }
    }

    /// Ends the recording, and marks the ring as complete.
    func stop() {
        // A second call changes nothing.
        if taskOperationsLoad(words + Format.stoppedPlace) != 0 { return }
        let schedulers = own.withLock { own in
            defer { own = nil }
            return own
        }
        if let schedulers {
            for scheduler in schedulers { scheduler.removeRecorder(self) }
        } else {
            AllQueues.remove(AllQueues.Listener(self))
        }
        let (ticks, nanoseconds) = Ticks.pair
        taskOperationsStore(words + Format.endTicksPlace, ticks)
        taskOperationsStore(words + Format.endNanosecondsPlace, nanoseconds)
        taskOperationsPublish(words + Format.stoppedPlace, 1)
    }

    /// Lets all queues write the records of operations that were added and wait to be inserted.
    func recordArrivals() { for scheduler in Scheduler.all { scheduler.recordArrivals() } }

    /// The number of operations that ended with `TaskOperationError.timedOut`.
    var timeoutCount: Int { Int(taskOperationsLoad(counters + 2)) }

    func noteTimeout() { _ = taskOperationsAdd(counters + 2, 1) }

    /// A copy of the used words. A chunk that was overwritten during the copy is empty in it.
    var snapshot: [UInt64] {
        let taken = min(taskOperationsLoad(words + Format.takenPlace), UInt64(chunkCount))
        let count = Format.headerWords + Int(taken) * Format.chunkWords
        return Array(unsafeUninitializedCapacity: count) { copy, initializedCount in
            taskOperationsCopyRecords(words, copy.baseAddress!, count)
            initializedCount = count
        }
    }

    /// Calls a function with the memory of the ring.
    func withMemory(_ body: (UnsafeRawPointer, _ byteCount: Int) -> Void) {
        body(words, 8 * (Format.headerWords + chunkCount * Format.chunkWords))
    }

    var room: Int { chunkCount / 8 * 63 }

    func takeDuty() -> Bool {
        let part = part
        return taskOperationsExchange(counters + 1, part) != part
    }
}

// MARK: - Records

extension ChangeRing {
    /// Never waits: if all stripes are taken, drops the records and counts them.
    func append(_ records: UnsafeBufferPointer<ChangeRecord>, naming names: [String], of queue: UInt64) {
        let places = names.isEmpty ? [] : names.map { place(of: $0) }
        let first = Int(truncatingIfNeeded: queue)
        for attempt in 0..<Self.stripeCount {
            let stripe = stripes + ((first &+ attempt) & (Self.stripeCount - 1))
            // The flag is the first property of the stripe.
            let flag = UnsafeMutableRawPointer(stripe).assumingMemoryBound(to: UInt64.self)
            if taskOperationsTake(flag) == 0 { continue }
            append(records, places, of: queue, to: &stripe.pointee.chunk)
            taskOperationsPublish(flag, 0)
            return
        }
        _ = taskOperationsAdd(words + Format.lostPlace, UInt64(records.count))
    }

    @inline(__always)
    private func append(
        _ records: UnsafeBufferPointer<ChangeRecord>, _ places: [UInt64], of queue: UInt64, to chunk: inout OwnedChunk
    ) {
        for record in records {
            if chunk.next == Format.chunkWords, !takeChunk(&chunk) {
                _ = taskOperationsAdd(words + Format.lostPlace, 1)
                continue
            }
            let place = words + (chunk.place + chunk.next)
            let isNamed = !places.isEmpty && record.isNamed
            taskOperationsStore(place + 0, record.numbers)
            taskOperationsStore(place + 1, isNamed ? places[Int(record.value) - 1] : record.value)
            taskOperationsStore(place + 2, record.operation)
            taskOperationsStore(place + 3, record.queue | queue)
            chunk.next += Format.recordWords
        }
        publish(chunk)
    }

    /// Lets readers see the words that were written to a chunk.
    @inline(__always)
    private func publish(_ chunk: OwnedChunk, flags: UInt64 = 0) {
        if chunk.place >= 0 { taskOperationsPublish(words + chunk.place + 1, UInt64(chunk.next) | flags) }
    }

    /// Replaces a full chunk by the oldest chunk without an owner. Returns false if there is no memory for it.
    @inline(never)
    private func takeChunk(_ chunk: inout OwnedChunk, flags: UInt64 = 0) -> Bool {
        publish(chunk, flags: flags)
        if chunk.place >= 0 {
            taskOperationsPublish(owned + (chunk.place - Format.headerWords) / Format.chunkWords, 0)
            chunk.place = -1
            // If there is no memory, the next word needs a chunk, too.
            chunk.next = Format.chunkWords
        }
        var index: Int
        // There are more chunks than owners, so a free one follows soon.
        repeat {
            chunk.generation = taskOperationsAdd(words + Format.takenPlace, 1)
            index = Int((chunk.generation - 1) % UInt64(chunkCount))
            if index % (chunkCount / 4) == 0 { _ = taskOperationsAdd(counters, 1) }
            if let reserve, !reserve(Format.headerWords + (index + 1) * Format.chunkWords) {
                _ = taskOperationsAdd(words + Format.takenPlace, ~0)
                return false
            }
        } while taskOperationsTake(owned + index) == 0
        chunk.place = Format.headerWords + index * Format.chunkWords
        chunk.next = Format.chunkHeaderWords
        let (ticks, nanoseconds) = Ticks.pair
        let header = words + chunk.place
        taskOperationsStore(header + 0, 0)
        taskOperationsFence()
        taskOperationsStore(header + 1, UInt64(chunk.next) | flags)
        taskOperationsStore(header + 2, ticks)
        taskOperationsStore(header + 3, nanoseconds)
        taskOperationsPublish(header + 0, chunk.generation)
        return true
    }
}

// MARK: - Names

extension ChangeRing {
    /// The places of recent names, by their hash values. A new name replaces another one, so that the table needs no more
    /// memory, and frees no more than one name at a time.
    private struct NameTable: Sendable {
        /// The chunk of the last names.
        var chunk = OwnedChunk()
        /// The number of chunks that may be taken while a name stays valid, and while names are added to a chunk. A name
        /// then remains for three quarters of the ring after each record that refers to it.
        private let lifetime: UInt64
        private var entries: [(name: String, place: UInt64)]

        init(chunkCount: Int) {
            lifetime = UInt64(chunkCount) / 8
            entries = .init(repeating: ("", 0), count: min(8192, max(64, chunkCount * 2)))
        }

        private func index(of name: String) -> Int {
            var hasher = Hasher()
            name.hash(into: &hasher)
            return Int(UInt(bitPattern: hasher.finalize()) % UInt(entries.count))
        }

        /// The place of a name that is not old; nil if there is none.
        func place(of name: String, taken: UInt64) -> UInt64? {
            let entry = entries[index(of: name)]
            return entry.place != 0 && entry.name == name && entry.place >> 8 + lifetime >= taken ? entry.place : nil
        }

        /// Whether names are no longer added to the chunk.
        func isOld(taken: UInt64) -> Bool { chunk.generation + lifetime < taken }

        mutating func note(_ name: String, at place: UInt64) { entries[index(of: name)] = (name, place) }
    }

    /// Returns the generation of the chunk that contains a name, and in the low eight bits its place there; 0 if there is
    /// no memory for it. Writes the name if the ring does not contain it. Takes linear time in the length of the name, of
    /// which 256 bytes are kept.
    private func place(of name: String) -> UInt64 {
        let isShort = name.utf8.count <= Format.maxNameBytes
        let name = isShort ? name : String(decoding: name.utf8.prefix(Format.maxNameBytes), as: UTF8.self)
        return names.withLock { table in
            let taken = taskOperationsLoad(words + Format.takenPlace)
            if let place = table.place(of: name, taken: taken) { return place }
            let bytes = Array(name.utf8.prefix(Format.maxNameBytes))
            let count = 1 + (bytes.count + 7) / 8
            if table.chunk.next + count > Format.chunkWords || table.isOld(taken: taken) {
                if !takeChunk(&table.chunk, flags: Format.namesBit) { return 0 }
            }
            let first = words + (table.chunk.place + table.chunk.next)
            taskOperationsStore(first + 0, UInt64(bytes.count))
            for word in 1..<count {
                var value: UInt64 = 0
                for (shift, byte) in bytes.dropFirst((word - 1) * 8).prefix(8).enumerated() {
                    value |= UInt64(byte) << UInt64(8 * shift)
                }
                taskOperationsStore(first + word, value)
            }
            let place = table.chunk.generation << 8 | UInt64(table.chunk.next)
            table.chunk.next += count
            publish(table.chunk, flags: Format.namesBit)
            table.note(name, at: place)
            return place
        }
    }
}
