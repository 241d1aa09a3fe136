/// The place of a record in a journal.
struct JournalPosition: Hashable, Sendable {
    let segment: UInt32
    /// The size of the record with its frame, in bytes.
    let length: UInt32
    /// The offset of the frame in the file of the segment.
    let offset: Int
}

/// Reads a segment, one record after the other.
struct SegmentReader {
    let file: JournalFile
    private(set) var header: SegmentHeader
    private let size: Int
    /// A part of the file, which begins at `start`.
    private var buffer: [UInt8] = []
    private var start = 0
    private var offset = SegmentHeader.size

    init(_ file: JournalFile) throws(JournalError) {
        self.file = file
        size = try file.size
        let bytes = try file.bytes(at: 0, count: min(size, SegmentHeader.size))
        header = try SegmentHeader(bytes, ofFile: file.path)
    }

    /// Calls a function with each record.
    ///
    /// - Parameters:
    ///   - isLast: Whether no other segment follows. Only then can the process have ended during a write.
    ///   - visit: Receives the record, its position and its bytes.
    /// - Returns: The end of the last complete record. The file can be longer if a write was interrupted.
    /// - Throws: `JournalError.damaged` if a checksum is wrong.
    mutating func read(
        isLast: Bool, _ visit: (JournalRecord, JournalPosition) -> Void
    ) throws(JournalError) -> Int {
        while offset < size {
            let left = size - offset
            guard left >= JournalRecord.frameSize else { return try interrupted(isLast, at: offset, from: size) }
            try load(JournalRecord.frameSize)
            guard let length = frame() else {
                return try interrupted(isLast, at: offset, from: offset + JournalRecord.frameSize - 1)
            }
            if length > left { return try interrupted(isLast, at: offset, from: size) }
            try load(length)
            let record = buffer.withUnsafeBytes { bytes in
                JournalRecord.check(UnsafeRawBufferPointer(rebasing: bytes[(offset - start)...].prefix(length)))
            }
            guard let record else { return try interrupted(isLast, at: offset, from: offset + length - 1) }
            visit(record.record, JournalPosition(segment: header.number, length: UInt32(length), offset: offset))
            offset += length
        }
        return offset
    }

    /// Reads the length of the record at the offset, with its frame. Returns nil if the checksum is wrong.
    private func frame() -> Int? {
        buffer.withUnsafeBytes { JournalRecord.length($0, at: offset - start) }
    }

    /// Ensures that the buffer contains the next bytes.
    private mutating func load(_ count: Int) throws(JournalError) {
        if offset - start + count <= buffer.count { return }
        buffer = try file.bytes(at: offset, count: min(max(count, 1 << 20), size - offset))
        start = offset
        if buffer.count < count { throw .damaged(file: file.path, offset: offset) }
    }

    /// Decides whether a write was interrupted. The file then ends before the record does, or its end is zero.
    ///
    /// - Parameter end: The offset from which on all bytes must be zero.
    private func interrupted(_ isLast: Bool, at offset: Int, from end: Int) throws(JournalError) -> Int {
        if !isLast { throw .damaged(file: file.path, offset: offset) }
        for part in stride(from: end, to: size, by: 1 << 20) {
            let bytes = try file.bytes(at: part, count: min(1 << 20, size - part))
            if bytes.contains(where: { $0 != 0 }) { throw .damaged(file: file.path, offset: offset) }
        }
        return offset
    }
}

extension JournalRecord {
    /// Returns the length of a record with its frame; nil if the checksum of the frame is wrong.
    static func length(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        let frame = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 8])
        if Checksum.of(frame) != bytes.integer(at: offset + 8, UInt32.self) { return nil }
        return Int(bytes.integer(at: offset, UInt32.self)) + frameSize
    }

    /// Reads a record with its frame. Returns nil if a checksum is wrong.
    static func check(_ bytes: UnsafeRawBufferPointer) -> (record: JournalRecord, payload: Range<Int>)? {
        if bytes.count < frameSize || length(bytes, at: 0) != bytes.count { return nil }
        let body = UnsafeRawBufferPointer(rebasing: bytes[frameSize...])
        if Checksum.of(body) != bytes.integer(at: 4, UInt32.self) { return nil }
        return read(body).map { ($0.record, $0.payload.lowerBound + frameSize..<$0.payload.upperBound + frameSize) }
    }
}

extension JournalFile {
    /// Reads bytes. Returns fewer at the end of the file.
    func bytes(at offset: Int, count: Int) throws(JournalError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 1)
        defer { buffer.deallocate() }
        let done = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        return Array(buffer[..<done])
    }

    /// Reads the description of a payload, and the payload.
    ///
    /// - Throws: `JournalError.damaged` if a checksum is wrong.
    func payload(at position: JournalPosition) throws(JournalError) -> (put: JournalPut, payload: [UInt8]) {
        try payload(in: bytes(at: position.offset, count: Int(position.length)), at: position)
    }

    func payload(
        in bytes: [UInt8], at position: JournalPosition
    ) throws(JournalError) -> (put: JournalPut, payload: [UInt8]) {
        let found = bytes.withUnsafeBytes { JournalRecord.check($0) }
        guard let found, case .put(let put) = found.record else {
            throw .damaged(file: path, offset: position.offset)
        }
        return (put, Array(bytes[found.payload]))
    }
}
