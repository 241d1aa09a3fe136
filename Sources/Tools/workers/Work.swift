import Foundation

/// One piece of work, as it is written into a payload.
enum Work: Sendable {
    /// Scales a picture that follows from a number.
    case thumbnail(Int)
    /// Hashes a file.
    case hash(String)
    /// Sleeps for so many milliseconds.
    case sleep(Int)

    /// One day, in milliseconds. The runtime stops the process if a sleep of too many nanoseconds begins.
    private static let longestSleep = 86_400_000

    /// Reads a payload. Returns nil if it is no work.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.last) {
        case ("thumbnail", let text?):
            guard let number = Int(text) else { return nil }
            self = .thumbnail(number)
        case ("hash", let path?): self = .hash(path)
        case ("sleep", let text?):
            guard let time = Int(text), time <= Self.longestSleep else { return nil }
            self = .sleep(time)
        default: return nil
        }
    }

    var text: String {
        switch self {
        case .thumbnail(let number): "thumbnail \(number)"
        case .hash(let path): "hash \(path)"
        case .sleep(let time): "sleep \(time)"
        }
    }

    /// A thousand thumbnails, or the files in a folder.
    static func all(inFolder folder: String?) throws -> [Work] {
        guard let folder else { return (0..<1000).map { .thumbnail($0) } }
        let url = URL(filePath: folder)
        let names = try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted()
        return names.map { url.appending(path: $0).path }.filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }.map { .hash($0) }
    }

    /// Does the work. Returns a number that depends on all of it.
    func run() async throws -> UInt64 {
        switch self {
        case .thumbnail(let number): return Self.thumbnail(number)
        case .hash(let path): return Self.hash(try Data(contentsOf: URL(filePath: path)))
        case .sleep(let time):
            if time > 0 { try await Task.sleep(for: .milliseconds(time)) }
            return 0
        }
    }

    private static func thumbnail(_ number: Int) -> UInt64 {
        let (size, scale) = (256, 8)
        let pixels = (0..<size * size).map { UInt8(truncatingIfNeeded: ($0 &* (number &+ 31)) >> 3) }
        let small = (0..<size / scale).flatMap { row in
            (0..<size / scale).map { column in
                var sum = 0
                for y in 0..<scale {
                    for x in 0..<scale { sum += Int(pixels[(row * scale + y) * size + column * scale + x]) }
                }
                return UInt8(sum / (scale * scale))
            }
        }
        return hash(small)
    }

    /// The 64-bit FNV-1a hash.
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
