import Foundation
import SourceAudit

/// Writes to a file at once, without a buffer. It follows links and writes to devices, like `>` in a shell.
final class OutputFile: Sendable {
    private let name: String
    private let descriptor: CInt
    private let isOwned: Bool

    /// Whether the text appears on the standard output, even if the file was opened by another name.
    let isStandardOutput: Bool

    /// Whether the file position can be changed.
    let isSeekable: Bool

    static var standardOutput: OutputFile { OutputFile(name: "standard output", descriptor: STDOUT_FILENO) }

    private init(name: String, descriptor: CInt) {
        self.name = name
        self.descriptor = descriptor
        isOwned = false
        isStandardOutput = true
        isSeekable = false
    }

    /// Opens a file, and empties it if it is a regular file.
    init(at path: String) throws(WriteError) {
        let opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        if opened < 0 { throw WriteError(name: path, code: errno) }
        name = path
        isStandardOutput = Self.isSame(opened, STDOUT_FILENO)
        if isStandardOutput {
            // A second descriptor would have its own position, at the start of the file.
            close(opened)
            (descriptor, isOwned, isSeekable) = (STDOUT_FILENO, false, false)
        } else {
            (descriptor, isOwned, isSeekable) = (opened, true, Self.isRegular(opened))
            if isSeekable, ftruncate(opened, 0) < 0 { throw WriteError(name: path, code: errno) }
        }
    }

    deinit { if isOwned { close(descriptor) } }

    func write(_ text: String) throws(WriteError) {
        try StandardStreams.write(text, to: descriptor, name: name)
    }

    /// Moves the position back. The file must be seekable.
    func goBack(_ bytes: Int) throws(WriteError) {
        if lseek(descriptor, -off_t(bytes), SEEK_CUR) < 0 { throw WriteError(name: name, code: errno) }
    }

    private static func isSame(_ one: CInt, _ other: CInt) -> Bool {
        guard let one = status(one), let other = status(other) else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    private static func isRegular(_ descriptor: CInt) -> Bool {
        status(descriptor).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    }

    private static func status(_ descriptor: CInt) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }
}
