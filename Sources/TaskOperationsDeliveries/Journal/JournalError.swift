/// An error of a journal. Its description contains the file, and a way to proceed.
public enum JournalError: Error, Hashable, CustomStringConvertible {
    /// Another engine, of this process or of another one, has opened the directory.
    case inUse(directory: String, process: String)
    /// The bytes of a file are not those that were written. The engine changes no file of such a journal.
    case damaged(file: String, offset: Int)
    /// A file between two others is missing.
    case missing(file: String)
    /// A newer version of this package has written the file.
    case newerVersion(file: String, version: Int)
    /// A call of the system has failed. Examples are a full disk, a file system that is read-only, and an fsync that
    /// failed.
    ///
    /// - `call`: The name of the function of the system.
    /// - `code`: The value of `errno`.
    case systemCall(_ call: String, file: String, code: Int32)
    /// The directory, or the file that the engine writes, was removed.
    case removed(file: String)
    /// The payload has more bytes than a record can contain.
    case tooLarge(bytes: Int)
    /// The engine was closed with `close`.
    case closed(directory: String)
    /// No payload with the identity exists, or it is not in the required state.
    case unknownDelivery(id: Int)

    /// The cause of the error, and a way to proceed.
    public var description: String {
        switch self {
        case .inUse(let directory, let process):
            "The journal \(directory) is in use by process \(process). One engine at a time can open a journal."
        case .damaged(let file, let offset):
            """
            The journal is damaged: \(file), at byte \(offset). No file was changed. \
            `workers journal` lists the records before this byte. Restore the file, or move it to another directory.
            """
        case .missing(let file): "The journal is incomplete: \(file) is missing. No file was changed."
        case .newerVersion(let file, let version):
            """
            \(file) has version \(version) of the format. This version of TaskOperationsDeliveries reads versions up to \
            \(SegmentHeader.currentVersion).
            """
        case .systemCall(let call, let file, let code):
            "\(call) of \(file) failed: \(systemMessage(code)) (\(code)). An engine that has failed must be opened again."
        case .removed(let file): "\(file) was removed while the journal was open. Open the journal again."
        case .tooLarge(let bytes): "A payload of \(bytes) bytes is too large. A record has at most 2³¹ bytes."
        case .closed(let directory): "The journal \(directory) was closed."
        case .unknownDelivery(let id): "The journal has no such delivery: \(id)."
        }
    }
}
