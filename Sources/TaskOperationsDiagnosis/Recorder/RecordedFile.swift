internal import CTaskOperations
import Synchronization
import TaskOperations

/// Files of change records.
enum RecordedFile {
    private static func error(_ path: String, _ action: String) -> TraceError {
        .file(path: path, reason: "cannot be \(action): \(String(cString: taskOperationsErrorText()))")
    }

    // MARK: Mapped files

    /// Creates a ring in the memory of a new file.
    ///
    /// - Parameter capacity: The size in bytes; `Int.max` for a file that grows.
    static func ring(_ path: String, capacity: Int) throws(TraceError) -> ChangeRing {
        let grows = capacity == .max
        // Address space, of which only the part that was reserved is used.
        let mapped = grows ? (Int.bitWidth == 64 ? 1 << 36 : 1 << 28) : capacity
        let first = grows ? growth : capacity
        var descriptor: Int32 = -1
        guard let memory = taskOperationsMapFile(path, UInt64(first), UInt64(mapped), &descriptor) else {
            throw error(path, "created")
        }
        let (file, address) = (descriptor, UInt(bitPattern: memory))
        let release: @Sendable () -> Void = {
            taskOperationsUnmapFile(UnsafeMutableRawPointer(bitPattern: address)!, UInt64(mapped), file)
        }
        if !grows { return ChangeRing(memory, byteCount: mapped, release: release) }
        let reservation = Reservation(descriptor: file, first: first)
        return ChangeRing(memory, byteCount: mapped, reserve: { reservation.reserve($0 * 8) }, release: release)
    }

    private static var growth: Int { 4 << 20 }

    /// The bytes of a growing file that are reserved.
    private final class Reservation: Sendable {
        private let descriptor: Int32
        private let available: Lock<Int>

        init(descriptor: Int32, first: Int) {
            self.descriptor = descriptor
            available = Lock(first)
        }

        /// Makes bytes available. Returns false if the disk is full.
        func reserve(_ byteCount: Int) -> Bool {
            available.withLock { available in
                if byteCount <= available { return true }
                let next = max(byteCount, available + growth)
                if taskOperationsReserveFile(descriptor, UInt64(available), UInt64(next)) != 0 { return false }
                available = next
                return true
            }
        }
    }

    // MARK: Whole files

    static func write(_ words: [UInt64], to path: String) throws(TraceError) {
        let part = path + ".part"
        let written = words.withUnsafeBytes { taskOperationsWriteFile(part, $0.baseAddress!, $0.count) }
        if written != 0 { throw error(path, "written") }
        if taskOperationsRenameFile(part, path) != 0 { throw error(path, "replaced") }
    }

    /// Reads a file, which a process may be writing. A chunk that is overwritten meanwhile is empty in the result.
    static func read(_ path: String) throws(TraceError) -> [UInt64] {
        var count = 0
        guard let bytes = taskOperationsReadRecords(path, &count) else { throw error(path, "read") }
        defer { taskOperationsFree(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
