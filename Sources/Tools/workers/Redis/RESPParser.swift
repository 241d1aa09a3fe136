/// Parses replies from bytes that arrive in parts. Takes linear time in the number of bytes, regardless of their parts.
///
/// The parser does not trust the server. It rejects replies that exceed `Limits`, and allocates memory only for bytes
/// and values that have arrived.
struct RESPParser {
    struct Malformed: Error, CustomStringConvertible {
        let description: String

        init(_ description: String = "The server does not speak RESP3.") {
            self.description = description
        }
    }

    /// The bounds of one reply.
    enum Limits {
        /// The number of arrays around a value. The deepest reply of this driver's commands has 5.
        static let depth = 32
        /// The number of values, and of announced elements of one array.
        static let values = 1 << 20
        /// The number of bytes.
        static let bytes = 1 << 26
        /// The number of bytes of a line, which contains a number, an error or a short text.
        static let line = 1 << 16
    }

    /// An array whose elements have not all arrived.
    private struct OpenArray {
        var missing: Int
        var values: [RESPValue] = []
        /// Whether the array is a message that the server pushes, or an attribute. Neither is a reply, or part of one.
        let isIgnored: Bool
    }

    private enum Element {
        case value(RESPValue)
        case array(OpenArray)
        case text(length: Int, isError: Bool)
    }

    private var buffer: [UInt8] = []
    /// The bytes before this position were parsed.
    private var position = 0
    /// The bytes from `position` to this position contain no end of a line.
    private var scanned = 0
    /// The text whose length has arrived; nil if a line follows.
    private var text: (length: Int, isError: Bool)?
    /// The arrays around the next value, the outermost first.
    private var open: [OpenArray] = []
    /// The numbers of bytes and values of the current reply that were parsed.
    private var (byteCount, valueCount) = (0, 0)

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer += bytes }

    /// Returns the next reply; nil if it has not arrived completely. Messages that the server pushes are ignored.
    mutating func next() throws(Malformed) -> RESPValue? {
        while let value = try nextValue() {
            if let reply = close(with: value) {
                beginReply()
                return reply
            }
        }
        return nil
    }

    private mutating func beginReply() {
        (byteCount, valueCount) = (0, 0)
    }

    /// Adds a value to the innermost array. Ends the arrays that are then complete. Returns the reply if it is
    /// complete.
    private mutating func close(with value: RESPValue) -> RESPValue? {
        var value = value
        while var array = open.popLast() {
            array.values.append(value)
            array.missing -= 1
            if array.missing > 0 {
                open.append(array)
                return nil
            }
            if array.isIgnored {
                if open.isEmpty { beginReply() }
                return nil
            }
            value = .array(array.values)
        }
        return value
    }

    /// Returns the next value that is no array, or the next empty array. Opens the arrays before the value.
    private mutating func nextValue() throws(Malformed) -> RESPValue? {
        while let element = try nextElement() {
            switch element {
            case .value(let value):
                try count(values: 1)
                return value
            case .text(let length, let isError): text = (length, isError)
            case .array(let array):
                try count(values: 1)
                if array.missing > 0 {
                    if open.count == Limits.depth { throw Malformed("The reply is nested too deeply.") }
                    open.append(array)
                } else if !array.isIgnored {
                    return .array([])
                } else if open.isEmpty {
                    beginReply()
                }
            }
        }
        return nil
    }

    private mutating func nextElement() throws(Malformed) -> Element? {
        if let text {
            guard let string = try readText(text.length) else { return nil }
            self.text = nil
            return .value(text.isError ? .error(string) : .string(string))
        }
        guard let line = try readLine() else { return nil }
        let rest = line.dropFirst()
        switch line.first.map({ Character(UnicodeScalar($0)) }) {
        case "+", ",", "(": return .value(.string(String(decoding: rest, as: UTF8.self)))
        case "-": return .value(.error(String(decoding: rest, as: UTF8.self)))
        case ":": return .value(.integer(try Self.number(rest)))
        case "_": return .value(.null)
        case "#": return .value(.integer(rest.first == UInt8(ascii: "t") ? 1 : 0))
        case "$", "=", "!":
            guard let length = try Self.length(rest) else { return .value(.null) }
            if length > Limits.bytes - byteCount { throw Malformed("The reply is too large.") }
            return .text(length: length, isError: line.first == UInt8(ascii: "!"))
        case "*", "~": return try array(Self.length(rest))
        case "%": return try array(Self.length(rest), of: 2)
        case "|": return try array(Self.length(rest), of: 2, isIgnored: true)
        case ">":
            if !open.isEmpty { throw Malformed("A pushed message is part of a reply.") }
            return try array(Self.length(rest), isIgnored: true)
        default: throw Malformed()
        }
    }

    private func array(_ count: Int?, of size: Int = 1, isIgnored: Bool = false) throws(Malformed) -> Element {
        guard let count else {
            return isIgnored ? .array(OpenArray(missing: 0, isIgnored: true)) : .value(.null)
        }
        if count > Limits.values { throw Malformed("An array has too many elements.") }
        return .array(OpenArray(missing: count * size, isIgnored: isIgnored))
    }

    private static func number(_ digits: ArraySlice<UInt8>) throws(Malformed) -> Int {
        guard let number = Int(String(decoding: digits, as: UTF8.self)) else { throw Malformed() }
        return number
    }

    /// Returns a length; nil for -1, which means null. No other length is negative.
    private static func length(_ digits: ArraySlice<UInt8>) throws(Malformed) -> Int? {
        let length = try number(digits)
        if length < -1 { throw Malformed() }
        return length == -1 ? nil : length
    }

    private mutating func count(values count: Int) throws(Malformed) {
        valueCount += count
        if valueCount > Limits.values { throw Malformed("The reply has too many values.") }
    }
}

// MARK: - Bytes

extension RESPParser {
    /// Returns the next line without its end; nil if it has not arrived completely.
    private mutating func readLine() throws(Malformed) -> ArraySlice<UInt8>? {
        let start = position
        guard let end = buffer[max(start, scanned)...].firstIndex(of: UInt8(ascii: "\r")), end + 1 < buffer.count else {
            scanned = max(start, buffer.count - 1)
            if buffer.count - start > Limits.line { throw Malformed("A line is too long.") }
            return nil
        }
        if buffer[end + 1] != UInt8(ascii: "\n") { throw Malformed() }
        if end - start > Limits.line { throw Malformed("A line is too long.") }
        defer { consume(end + 2 - start) }
        try checkSize(after: end + 2 - start)
        return buffer[start..<end]
    }

    /// Returns the next text of a known length, which an end of line follows; nil if it has not arrived completely.
    private mutating func readText(_ length: Int) throws(Malformed) -> String? {
        let (start, end) = (position, position + length)
        if end + 2 > buffer.count { return nil }
        if buffer[end] != UInt8(ascii: "\r") || buffer[end + 1] != UInt8(ascii: "\n") { throw Malformed() }
        try checkSize(after: length + 2)
        defer { consume(length + 2) }
        return String(decoding: buffer[start..<end], as: UTF8.self)
    }

    private func checkSize(after count: Int) throws(Malformed) {
        if byteCount + count > Limits.bytes + 2 { throw Malformed("The reply is too large.") }
    }

    /// Advances the position. Removes parsed bytes when they are at least half of the buffer, so that each byte is
    /// moved at most once on average.
    private mutating func consume(_ count: Int) {
        position += count
        byteCount += count
        scanned = position
        if position * 2 < buffer.count { return }
        buffer.removeFirst(position)
        (position, scanned) = (0, 0)
    }
}
