/// The bytes that the lexer distinguishes.
enum Byte {
    static let newline = UInt8(ascii: "\n")
    static let `return` = UInt8(ascii: "\r")
    static let slash = UInt8(ascii: "/")
    static let star = UInt8(ascii: "*")
    static let quote = UInt8(ascii: "\"")
    static let hash = UInt8(ascii: "#")
    static let backtick = UInt8(ascii: "`")
    static let apostrophe = UInt8(ascii: "'")
    static let backslash = UInt8(ascii: "\\")
    static let openParen = UInt8(ascii: "(")
    static let closeParen = UInt8(ascii: ")")
    static let openSquare = UInt8(ascii: "[")
    static let closeSquare = UInt8(ascii: "]")
    static let closeBrace = UInt8(ascii: "}")
    static let dot = UInt8(ascii: ".")
    static let comma = UInt8(ascii: ",")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let greater = UInt8(ascii: ">")
    static let ampersand = UInt8(ascii: "&")
    static let bar = UInt8(ascii: "|")
    static let equal = UInt8(ascii: "=")
    static let exclamation = UInt8(ascii: "!")
    static let question = UInt8(ascii: "?")

    static func isNewline(_ byte: UInt8) -> Bool { byte == newline || byte == `return` }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 32) &- 97 < 6 || byte == 95 }

    /// Whether a word can begin with the byte, which is true of every byte beyond ASCII.
    @inline(__always)
    static func isWordStart(_ byte: UInt8) -> Bool {
        (byte | 32) &- 97 < 26 || byte == 95 || byte >= 128 || byte == 36
    }

    @inline(__always)
    static func isWord(_ byte: UInt8) -> Bool { isWordStart(byte) || isDigit(byte) }
}
