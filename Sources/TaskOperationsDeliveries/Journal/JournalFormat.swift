// The bytes of a journal. The article "The format of a journal" describes them.

/// The checksum CRC-32C (Castagnoli), as in RFC 3720.
enum Checksum {
    /// The tables of the algorithm "slicing-by-8", one after the other.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
            tables[index] = value
        }
        for index in 256..<8 * 256 {
            let previous = tables[index - 256]
            tables[index] = previous >> 8 ^ tables[Int(previous & 0xFF)]
        }
        return tables
    }()

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var (value, position) = (~UInt32(0), 0)
            while position + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: word) ^ value
                let high = UInt32(truncatingIfNeeded: word >> 32)
                value = tables[7 * 256 + Int(low & 0xFF)] ^ tables[6 * 256 + Int(low >> 8 & 0xFF)]
                value ^= tables[5 * 256 + Int(low >> 16 & 0xFF)] ^ tables[4 * 256 + Int(low >> 24)]
                value ^= tables[3 * 256 + Int(high & 0xFF)] ^ tables[2 * 256 + Int(high >> 8 & 0xFF)]
                value ^= tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
                position += 8
            }
            while position < bytes.count {
                value = value >> 8 ^ tables[Int((value ^ UInt32(bytes[position])) & 0xFF)]
                position += 1
            }
            return ~value
        }
    }
}

/// The header of a segment. It has the same layout in all versions.
struct SegmentHeader: Hashable, Sendable {
    static let size = 32
    static let currentVersion: UInt16 = 1
    private static let magic: [UInt8] = Array("TOJOURNL".utf8)

    var version = currentVersion
    /// Whether the segment replaces all segments with lower numbers.
    var isBase: Bool
    var number: UInt32
    /// The number of the segment before this one; 0 if there is none.
    var previous: UInt32
    /// The highest identity of a payload before this segment.
    var lastID: Int

    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append(integer: version)
        bytes.append(integer: UInt16(isBase ? 1 : 0))
        bytes.append(integer: number)
        bytes.append(integer: UInt64(lastID))
        bytes.append(integer: previous)
        bytes.append(integer: bytes.withUnsafeBytes { Checksum.of($0) })
        return bytes
    }
}

extension SegmentHeader {
    /// - Throws: `JournalError.damaged` or `.newerVersion`.
    init(_ bytes: [UInt8], ofFile file: String) throws(JournalError) {
        let header = bytes.withUnsafeBytes { bytes -> SegmentHeader? in
            guard bytes.count >= Self.size, bytes.prefix(8).elementsEqual(Self.magic),
                Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<28])) == bytes.integer(at: 28, UInt32.self),
                case let lastID = bytes.integer(at: 16, UInt64.self), lastID < 1 << 60
            else { return nil }
            return SegmentHeader(
                version: bytes.integer(at: 8), isBase: bytes.integer(at: 10, UInt16.self) & 1 != 0,
                number: bytes.integer(at: 12), previous: bytes.integer(at: 24), lastID: Int(lastID))
        }
        guard let header else { throw .damaged(file: file, offset: 0) }
        if header.version > Self.currentVersion { throw .newerVersion(file: file, version: Int(header.version)) }
        self = header
    }
}

/// An event of a payload. Each record contains the whole result of the event, so that a second reading changes nothing.
enum JournalRecord: Hashable, Sendable {
    case put(JournalPut)
    case deliver(id: Int, attempt: Int32, failures: Int32)
    /// - `delay`: The delay after `time`, both in milliseconds.
    case reject(id: Int, failures: Int32, time: UInt64, delay: UInt64, reason: String?)
    case bury(id: Int, failures: Int32, reason: String?)
    case remove(id: Int)
}

/// The description of a payload, without the payload.
struct JournalPut: Hashable, Sendable {
    var id: Int
    /// The identity of the payload that this one replaces; 0 if there is none.
    var replaced = 0
    var key: String?
    var identity: String?
    var priority: UInt8
    /// The time of the addition, in milliseconds since 1970.
    var created: UInt64 = 0
    var attempt: Int32 = 0
    var failures: Int32 = 0
    var isHeld = false
    var isDead = false
    /// The payload is not delivered before `time + delay`. Both are in milliseconds.
    var time: UInt64 = 0
    var delay: UInt64 = 0
    var reason: String?
}

extension JournalRecord {
    /// The size of the length and the checksums before a record.
    static let frameSize = 12
    /// The last byte of each record. After a power failure, the end of a file can consist of zeros. The end mark tells
    /// such an end from a damaged record.
    private static let endMark: UInt8 = 0xA5

    /// Appends the record with its frame.
    ///
    /// - Parameter payload: The payload of a `put` record; empty for others.
    func append(to bytes: inout [UInt8], payload: [UInt8] = []) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.frameSize))
        switch self {
        case .put(let put): put.append(to: &bytes)
        case .deliver(let id, let attempt, let failures):
            bytes.append(integer: UInt32(2))
            bytes.append(integer: UInt64(id))
            bytes.append(integer: attempt)
            bytes.append(integer: failures)
        case .reject(let id, let failures, let time, let delay, let reason):
            bytes.append(integer: UInt32(3))
            bytes.append(integer: UInt64(id))
            bytes.append(integer: failures)
            bytes.append(integer: time)
            bytes.append(integer: delay)
            bytes.append(text: reason)
        case .bury(let id, let failures, let reason):
            bytes.append(integer: UInt32(4))
            bytes.append(integer: UInt64(id))
            bytes.append(integer: failures)
            bytes.append(text: reason)
        case .remove(let id):
            bytes.append(integer: UInt32(5))
            bytes.append(integer: UInt64(id))
        }
        bytes.append(contentsOf: payload)
        bytes.append(Self.endMark)
        bytes.withUnsafeMutableBytes { bytes in
            let record = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
            let body = UnsafeRawBufferPointer(rebasing: record[Self.frameSize...])
            record.storeBytes(of: UInt32(body.count).littleEndian, toByteOffset: 0, as: UInt32.self)
            record.storeBytes(of: Checksum.of(body).littleEndian, toByteOffset: 4, as: UInt32.self)
            let frame = Checksum.of(UnsafeRawBufferPointer(rebasing: record[..<8]))
            record.storeBytes(of: frame.littleEndian, toByteOffset: 8, as: UInt32.self)
        }
    }

    /// Reads the body of a record. Returns nil if it has another form.
    ///
    /// - Returns: The record, and the range of the payload in the body.
    static func read(_ body: UnsafeRawBufferPointer) -> (record: JournalRecord, payload: Range<Int>)? {
        if body.last != endMark { return nil }
        let end = body.count - 1
        var reader = ByteReader(bytes: UnsafeRawBufferPointer(rebasing: body[..<end]))
        guard let kind = reader.integer(UInt32.self) else { return nil }
        if kind & 0xFF == 1 { return JournalPut(kind, &reader).map { (.put($0), reader.position..<end) } }
        guard let id = reader.id() else { return nil }
        let record: JournalRecord
        switch kind {
        case 2:
            guard let attempt = reader.count(), let failures = reader.count() else {
                return nil
            }
            record = .deliver(id: id, attempt: attempt, failures: failures)
        case 3:
            guard let failures = reader.count(), let time = reader.integer(UInt64.self),
                let delay = reader.integer(UInt64.self), let reason = reader.text()
            else { return nil }
            record = .reject(id: id, failures: failures, time: time, delay: delay, reason: reason)
        case 4:
            guard let failures = reader.count(), let reason = reader.text() else { return nil }
            record = .bury(id: id, failures: failures, reason: reason)
        case 5: record = .remove(id: id)
        default: return nil
        }
        return reader.position == end ? (record, end..<end) : nil
    }
}

extension JournalPut {
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes.append(integer: 1 | (isHeld ? 0x100 : 0) | (isDead ? 0x200 : 0) | UInt32(priority) << 16)
        bytes.append(integer: UInt64(id))
        bytes.append(integer: UInt64(replaced))
        bytes.append(integer: created)
        bytes.append(integer: attempt)
        bytes.append(integer: failures)
        bytes.append(integer: time)
        bytes.append(integer: delay)
        bytes.append(text: identity)
        bytes.append(text: key)
        bytes.append(text: reason)
    }

    fileprivate init?(_ kind: UInt32, _ reader: inout ByteReader) {
        guard let id = reader.id(), let replaced = reader.id(),
            let created = reader.integer(UInt64.self), let attempt = reader.count(),
            let failures = reader.count(), let time = reader.integer(UInt64.self),
            let delay = reader.integer(UInt64.self), let identity = reader.text(), let key = reader.text(),
            let reason = reader.text()
        else { return nil }
        self.init(
            id: id, replaced: replaced, key: key, identity: identity,
            priority: UInt8(truncatingIfNeeded: kind >> 16), created: created, attempt: attempt, failures: failures,
            isHeld: kind & 0x100 != 0, isDead: kind & 0x200 != 0, time: time, delay: delay, reason: reason)
    }
}

/// Reads the fields of a record one after the other. Returns nil if no bytes are left.
private struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        guard bytes.count - position >= MemoryLayout<Number>.size else { return nil }
        defer { position += MemoryLayout<Number>.size }
        return bytes.integer(at: position)
    }

    /// Sums of identities and of counts must not overflow.
    mutating func id() -> Int? { integer(UInt64.self).flatMap { $0 < 1 << 60 ? Int($0) : nil } }
    mutating func count() -> Int32? { integer(Int32.self).flatMap { (0..<1 << 30).contains($0) ? $0 : nil } }

    mutating func text() -> String?? {
        guard let length = integer(UInt32.self) else { return nil }
        if length == .max { return .some(nil) }
        guard bytes.count - position >= length else { return nil }
        defer { position += Int(length) }
        return String(decoding: bytes[position..<position + Int(length)], as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    /// Reads an integer in little-endian order.
    func integer<Number: FixedWidthInteger>(at offset: Int, _ type: Number.Type = Number.self) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(integer: Number) {
        Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends the length in bytes and the text; the highest length for nil.
    fileprivate mutating func append(text: String?) {
        guard var text else { return append(integer: UInt32.max) }
        text.withUTF8 { utf8 in
            append(integer: UInt32(utf8.count))
            append(contentsOf: utf8)
        }
    }
}
