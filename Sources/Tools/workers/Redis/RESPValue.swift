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
