extension InputFile {
    /// As much of a file as is looked at, so that large ones do not hold a recipe up.
    public static var sampleSize: Int { 64 * 1024 }

    /// The beginning of the file as text.
    ///
    /// - Throws: `NotText` where it holds a zero byte, `FileProblem` where the file cannot be read.
    public func text() throws -> String {
        let bytes = try contents(upTo: Self.sampleSize)
        if bytes.contains(0) { throw NotText(name: name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How many line ends the beginning of the file has; none where it cannot be read.
    public func lineCount() -> Int {
        let bytes = try? contents(upTo: Self.sampleSize)
        return bytes?.lineCount ?? 0
    }
}

extension Sequence<UInt8> {
    /// How many line ends there are.
    public var lineCount: Int { reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 } }
}

/// A file holds something other than text.
public struct NotText: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path within its folder.
    public let name: String

    public var description: String { "\(name) is not text" }
}
