/// The contents of a journal, or of one of its segments. Reading changes no file, and needs no lock: a process may use
/// the journal meanwhile.
package struct JournalListing: Sendable {
    /// A segment that was read.
    package struct Segment: Sendable {
        package let path: String
        package let version: Int
        package var recordCount = 0
        package var size = 0
    }

    package private(set) var segments: [Segment] = []
    package private(set) var waiting = 0
    package private(set) var held = 0
    package private(set) var deadLetters: [DeadLetter] = []
    /// The time at which the oldest delivery was added, in milliseconds since 1970.
    package private(set) var oldest: UInt64?
    /// The number of bytes after the last complete record.
    package private(set) var interrupted = 0
    /// The first error. The records before it are counted.
    package private(set) var error: JournalError?

    /// - Parameter path: The directory of a journal, or the file of a segment.
    package init(_ path: String) throws(JournalError) {
        let fault: FileFault = { _, _ in 0 }
        var readers: [SegmentReader]
        if path.hasSuffix(".journal") {
            readers = [try SegmentReader(JournalFile(path, .read, fault))]
        } else {
            readers = try OpenedJournal.readers(path, JournalFile.names(in: path, fault), fault)
        }
        var replay = JournalReplay(InMemoryEngineState(lease: .seconds(1)), now: .zero, wallTime: 0)
        var created: [Int: UInt64] = [:]
        for index in readers.indices {
            let file = readers[index].file
            var segment = Segment(path: file.path, version: Int(readers[index].header.version))
            segment.size = SegmentHeader.size
            do throws(JournalError) {
                let end = try readers[index].read(isLast: index == readers.count - 1) { record, position in
                    segment.recordCount += 1
                    segment.size = position.offset + Int(position.length)
                    replay.apply(record, at: position)
                    if case .put(let put) = record { created[put.id] = put.created }
                }
                interrupted = try file.size - end
            } catch {
                self.error = error
            }
            segments.append(segment)
            if error != nil { break }
        }
        summarize(replay.core, created)
    }

    private mutating func summarize(_ core: InMemoryEngineState<JournalPosition>, _ created: [Int: UInt64]) {
        (waiting, held) = (core.count - core.heldCount, core.heldCount)
        deadLetters = core.dead.map { core.deadLetter($0) }
        oldest = core.entries(after: 0, limit: .max) { $0.status != .dead }.compactMap { created[$0.id] }.min()
    }
}
