import Foundation

/// The file of a recorder, and a buffer of bytes that are not written yet.
struct TraceFile: ~Copyable, Sendable {
    private let url: URL
    private let maximumSize: Int?
    private var handle: FileHandle?
    private var bytes = TraceBytes(capacity: TraceFile.bufferSize + 4096)
    private var isFirst = true
    /// The number of files before the current file.
    private(set) var number = 0
    /// The number of bytes that were written to the current file.
    private var size = 0
    /// The number of bytes that were written to earlier files.
    private var sizeBefore = 0
    private(set) var error: TraceError?

    /// The maximum number of buffered bytes.
    private static var bufferSize: Int { 1 << 18 }

    init(_ url: URL, maximumSize: Int?) throws(TraceError) {
        self.url = url
        self.maximumSize = maximumSize
        handle = try Self.open(url)
        begin()
    }

    private static func open(_ url: URL) throws(TraceError) -> FileHandle {
        do {
            try Data().write(to: url)
            return try FileHandle(forWritingTo: url)
        } catch {
            throw .file(path: url.path, reason: "cannot be written: \(error.localizedDescription)")
        }
    }

    private mutating func begin() {
        bytes.reserve(1024)
        bytes.add("[")
        isFirst = true
    }

    var byteCount: Int { sizeBefore + size + bytes.count }

    /// Whether the file has reached its maximum size.
    var isFull: Bool { maximumSize.map { size + bytes.count >= $0 } ?? false }

    /// Adds a line. The comma after the line is written with the next line. So the file is readable at any time.
    ///
    /// - Parameter add: A function that appends the line to the buffer. If it appends more than a kilobyte, it must
    ///   reserve the capacity.
    @inline(__always)
    mutating func addLine(_ add: (inout TraceBytes) -> Void) {
        bytes.reserve(1024)
        if isFirst { bytes.add("\n") } else { bytes.add(",\n") }
        isFirst = false
        add(&bytes)
        if bytes.count >= Self.bufferSize { flush() }
    }

    /// Writes the buffered bytes. If the file is closed, discards them.
    mutating func flush() {
        defer { bytes.removeAll() }
        guard let handle, bytes.count > 0 else { return }
        do {
            try bytes.withBytes { (bytes) throws in try handle.write(contentsOf: bytes) }
            size += bytes.count
        } catch {
            if self.error == nil {
                self.error = .file(path: url.path, reason: "cannot be written: \(error.localizedDescription)")
            }
        }
    }

    /// Closes and renames the file, and creates a new file.
    mutating func rotate() {
        let wasOpen = handle != nil
        close()
        if !wasOpen { return }
        let old = url.deletingLastPathComponent().appending(path: url.lastPathComponent + ".1")
        do {
            try? FileManager.default.removeItem(at: old)
            try FileManager.default.moveItem(at: url, to: old)
            handle = try Self.open(url)
        } catch {
            self.error = (error as? TraceError) ?? .file(path: url.path, reason: error.localizedDescription)
        }
        sizeBefore += size
        size = 0
        number += 1
        begin()
    }

    /// Ends the JSON array and closes the file.
    mutating func close() {
        guard handle != nil else { return }
        bytes.reserve(1024)
        bytes.add("\n]\n")
        flush()
        try? handle?.close()
        handle = nil
    }
}
