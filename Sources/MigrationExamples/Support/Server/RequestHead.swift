/// The request line and the header fields of a request, as defined in RFC 9112. Contains only the parts that this
/// server needs.
struct RequestHead: Equatable {
    /// The requested path without its first slash and without a query, percent-decoded.
    let path: PathBytes

    /// The maximum size of a head in bytes. The server stops reading at this size.
    static let sizeLimit = 16 * 1024

    /// The reason why a request is refused.
    enum Fault: Error {
        case malformed, methodNotAllowed, bodyNotAllowed, tooLarge, versionNotSupported

        var status: Int {
            switch self {
            case .malformed: 400
            case .methodNotAllowed: 405
            case .bodyNotAllowed: 413
            case .tooLarge: 431
            case .versionNotSupported: 505
            }
        }
    }

    /// Parses the head at the beginning of the received bytes. Returns nil if the head is still incomplete.
    static func parse(_ bytes: [UInt8]) throws(Fault) -> RequestHead? {
        guard let end = endOfHead(in: bytes) else {
            if bytes.count >= sizeLimit { throw .tooLarge }
            return nil
        }
        if end > sizeLimit { throw .tooLarge }
        guard let text = String(validating: bytes[..<end], as: UTF8.self) else { throw .malformed }
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let path = try target(ofRequestLine: lines[0])
        for line in lines.dropFirst() { try checkField(line) }
        return RequestHead(path: path)
    }

    /// Returns the index of the line end and empty line that end a head; nil if there are none.
    private static func endOfHead(in bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        return (0...bytes.count - end.count).first { bytes[$0] == end[0] && Array(bytes[$0..<$0 + end.count]) == end }
    }

    private static func target(ofRequestLine line: Substring) throws(Fault) -> PathBytes {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[2].hasPrefix("HTTP/") else { throw .malformed }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw .versionNotSupported }
        guard parts[0] == "GET" else { throw .methodNotAllowed }
        guard parts[1].hasPrefix("/") else { throw .malformed }
        let path = parts[1].dropFirst().prefix { $0 != "?" }
        guard let decoded = PathBytes(percentDecoding: path) else { throw .malformed }
        return decoded
    }

    private static func checkField(_ line: Substring) throws(Fault) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .malformed }
        let value = line[line.index(after: colon)...].filter { $0 != " " && $0 != "\t" }
        switch line[..<colon].lowercased() {
        case "content-length": if value != "0" { throw .bodyNotAllowed }
        case "transfer-encoding": throw .bodyNotAllowed
        default: break
        }
    }
}

extension PathBytes {
    /// The path as it is written in a URL. All characters except letters, digits and a few marks are percent-encoded.
    var percentEncoded: String {
        bytes.map { byte in
            let character = UnicodeScalar(byte)
            if character.isASCII,
                character.properties.isAlphabetic || "0123456789-._~/".unicodeScalars.contains(character)
            {
                return String(character)
            }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// Decodes the path of a URL; nil if a percent sign is not followed by two hexadecimal digits.
    init?(percentDecoding text: Substring) {
        var rest = Array(text.utf8)[...]
        var decoded: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            decoded.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        self.init(decoded)
    }
}
