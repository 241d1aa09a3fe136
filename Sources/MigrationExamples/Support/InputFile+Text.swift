import Foundation

extension InputFile {
    /// The number of bytes that are read from the beginning of a file, so that large files do not delay a recipe.
    public static var sampleSize: Int { 64 * 1024 }

    /// Returns the beginning of the file as text.
    ///
    /// - Throws: `NotText` if it contains a zero byte, `FileProblem` if the file cannot be read.
    public func text() throws -> String {
        let bytes = try contents(upTo: Self.sampleSize)
        if bytes.count(of: 0) > 0 { throw NotText(name: name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number of line ends in the beginning of the file; 0 if the file cannot be read.
    public func lineCount() -> Int {
        let bytes = try? contents(upTo: Self.sampleSize)
        return bytes?.lineCount ?? 0
    }
}

extension [UInt8] {
    /// The number of line ends.
    public var lineCount: Int { count(of: UInt8(ascii: "\n")) }

    /// Returns the number of occurrences of a byte. It uses the C library, because a loop would be slow in a debug
    /// build.
    fileprivate func count(of byte: UInt8) -> Int {
        withUnsafeBytes { bytes in
            var (count, rest) = (0, bytes[...])
            while let start = rest.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let found = memchr(start, CInt(byte), rest.count)
            {
                count += 1
                rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
            }
            return count
        }
    }
}

extension String {
    /// The number of line ends.
    public var lineCount: Int { Array(utf8).lineCount }
}

/// The error for a file that contains something other than text.
public struct NotText: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path within its folder.
    public let name: String

    public var description: String { "\(name) is not text" }
}
