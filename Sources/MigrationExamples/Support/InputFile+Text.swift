import Foundation

extension InputFile {
    /// As much of a file as is looked at, so that large ones do not hold a recipe up.
    public static var sampleSize: Int { 64 * 1024 }

    /// The beginning of the file as text.
    ///
    /// - Throws: `NotText` if it holds a zero byte, `FileProblem` if the file cannot be read.
    public func text() throws -> String {
        let bytes = try contents(upTo: Self.sampleSize)
        if bytes.count(of: 0) > 0 { throw NotText(name: name) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How many line ends the beginning of the file has; none where it cannot be read.
    public func lineCount() -> Int {
        let bytes = try? contents(upTo: Self.sampleSize)
        return bytes?.lineCount ?? 0
    }
}

extension [UInt8] {
    /// How many line ends there are.
    public var lineCount: Int { count(of: UInt8(ascii: "\n")) }

    /// How often a byte occurs. The C library looks for it: a loop would take its time in a debug build.
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
    /// How many line ends there are.
    public var lineCount: Int { Array(utf8).lineCount }
}

/// A file holds something other than text.
public struct NotText: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path within its folder.
    public let name: String

    public var description: String { "\(name) is not text" }
}
