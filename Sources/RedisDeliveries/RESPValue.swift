/// A value of RESP3, the protocol of Redis and Valkey. Only the types that this driver needs exist.
package enum RESPValue: Hashable, Sendable {
    case null
    case string(String)
    case integer(Int)
    /// An array or a set. A map is an array in which keys and values alternate.
    case array([RESPValue])
    case error(String)

    package var string: String? { if case .string(let string) = self { string } else { nil } }
    package var array: [RESPValue]? { if case .array(let array) = self { array } else { nil } }
    package var integer: Int? { if case .integer(let integer) = self { integer } else { nil } }

    /// Appends a command to a buffer.
    static func encode(_ command: [String], into buffer: inout [UInt8]) {
        buffer += "*\(command.count)\r\n".utf8
        for argument in command {
            buffer += "$\(argument.utf8.count)\r\n".utf8
            buffer += argument.utf8
            buffer += "\r\n".utf8
        }
    }
}

/// Parses values from bytes that arrive in parts.
struct RESPParser {
    struct Malformed: Error {}
    private struct Incomplete: Error {}

    private var buffer: [UInt8] = []
    private var position = 0

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer += bytes }

    /// Returns the next value; nil if it has not arrived completely.
    mutating func next() throws(Malformed) -> RESPValue? {
        let start = position
        do {
            let value = try parse()
            if position == buffer.count || position > 1 << 16 {
                buffer.removeFirst(position)
                position = 0
            }
            return value
        } catch is Incomplete {
            position = start
            return nil
        } catch {
            throw Malformed()
        }
    }

    private mutating func parse() throws -> RESPValue {
        let line = try readLine()
        guard let type = line.first else { throw Malformed() }
        let rest = String(decoding: line.dropFirst(), as: UTF8.self)
        switch Character(UnicodeScalar(type)) {
        case "+", ",", "(": return .string(rest)
        case "-": return .error(rest)
        case ":": return .integer(try Self.number(rest))
        case "_": return .null
        case "#": return .integer(rest == "t" ? 1 : 0)
        case "$", "=", "!":
            let length = try Self.number(rest)
            if length < 0 { return .null }
            let text = try readText(length)
            return type == UInt8(ascii: "!") ? .error(text) : .string(text)
        case "*", "~", ">": return try parseArray(count: Self.number(rest))
        case "%": return try parseArray(count: 2 * Self.number(rest))
        default: throw Malformed()
        }
    }

    private mutating func parseArray(count: Int) throws -> RESPValue {
        if count < 0 { return .null }
        var values: [RESPValue] = []
        for _ in 0..<count { values.append(try parse()) }
        return .array(values)
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text) else { throw Malformed() }
        return number
    }

    private mutating func readLine() throws -> ArraySlice<UInt8> {
        guard let end = buffer[position...].firstIndex(of: UInt8(ascii: "\r")), end + 1 < buffer.count else {
            throw Incomplete()
        }
        defer { position = end + 2 }
        return buffer[position..<end]
    }

    private mutating func readText(_ length: Int) throws -> String {
        if position + length + 2 > buffer.count { throw Incomplete() }
        defer { position += length + 2 }
        return String(decoding: buffer[position..<position + length], as: UTF8.self)
    }
}
