/// A path as the file system stores it: bytes that need not be valid UTF-8.
struct PathBytes: Hashable, Sendable {
    private(set) var bytes: [UInt8]

    init(_ path: String) {
        bytes = Array(path.utf8)
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(cString: UnsafePointer<CChar>) {
        bytes = []
        var next = cString
        while next.pointee != 0 {
            bytes.append(UInt8(bitPattern: next.pointee))
            next += 1
        }
    }

    /// Returns the path of an entry in the folder at this path.
    func appending(_ name: PathBytes) -> PathBytes {
        var path = self
        if let last = bytes.last, last != UInt8(ascii: "/") { path.bytes.append(UInt8(ascii: "/")) }
        path.bytes += name.bytes
        return path
    }

    /// Calls a function with the path as a C string, for system calls.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try (bytes + [0]).withUnsafeBytes { try body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }

    /// The path in a readable form. Control characters (including line ends) and bytes that are not UTF-8 are escaped.
    var shown: String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return bytes.map { 0x20..<0x7f ~= $0 ? String(UnicodeScalar($0)) : Self.escape(UInt32($0)) }.joined()
        }
        return text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? Self.escape(scalar.value) : String(scalar)
        }.joined()
    }

    private static func escape(_ value: UInt32) -> String {
        #"\x"# + (value < 16 ? "0" : "") + String(value, radix: 16)
    }
}
