// The calls of the system that a journal needs. Only this file depends on the platform.

// Foundation exports the C library, and functions such as `errno` that Swift declares for it.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Foundation) && !os(Windows) && !os(WASI)
    internal import Foundation
#endif

/// A call of the system.
package enum FileCall: String, Hashable, Sendable {
    case open, flock, read, write, fsync, rename, ftruncate, unlink, mkdir, opendir
}

/// A function that is called before each call of the system. If it returns a value other than 0, the call fails with
/// this value of `errno`. A write that fails has written the first half of the bytes. Tests use it.
package typealias FileFault = @Sendable (_ call: FileCall, _ path: String) -> Int32

#if !os(Windows) && !os(WASI)
    /// An open file. Any thread may read it. Only the thread of the engine writes it.
    final class JournalFile: Sendable {
        enum Mode {
            case read, append, create
        }

        let path: String
        private let descriptor: Int32
        private let fault: FileFault

        init(_ path: String, _ mode: Mode, _ fault: @escaping FileFault) throws(JournalError) {
            let flags =
                switch mode {
                case .read: O_RDONLY
                case .append: O_RDWR | O_APPEND
                case .create: O_RDWR | O_APPEND | O_CREAT
                }
            self.path = path
            self.fault = fault
            descriptor = Int32(
                try check(.open, path, fault) { Int(systemOpen(path, flags | O_CLOEXEC, 0o644)) })
        }

        deinit { close(descriptor) }

        /// Returns false if another open file has the lock. The lock ends with the file, and at the latest with the
        /// process.
        func lock() throws(JournalError) -> Bool {
            do throws(JournalError) {
                try check(.flock, path, fault) { Int(flock(descriptor, LOCK_EX | LOCK_NB)) }
                return true
            } catch .systemCall(_, _, EWOULDBLOCK) {
                return false
            }
        }

        func unlock() { flock(descriptor, LOCK_UN) }

        var size: Int {
            get throws(JournalError) { Int(try status.st_size) }
        }

        /// Whether a folder still contains the file.
        var isLinked: Bool {
            get throws(JournalError) { try status.st_nlink > 0 }
        }

        private var status: stat {
            get throws(JournalError) {
                var status = stat()
                try check(.read, path, fault) { Int(fstat(descriptor, &status)) }
                return status
            }
        }

        /// Reads bytes into a buffer. Returns the number of bytes, which is lower only at the end of the file.
        func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(JournalError) -> Int {
            var done = 0
            while done < buffer.count {
                let count = try check(.read, path, fault) {
                    pread(
                        descriptor, buffer.baseAddress! + done, min(buffer.count - done, 1 << 30), off_t(offset + done))
                }
                if count == 0 { break }
                done += count
            }
            return done
        }

        /// Appends bytes.
        func write(_ bytes: [UInt8]) throws(JournalError) {
            var (done, code) = (0, fault(.write, path))
            let end = code == 0 ? bytes.count : bytes.count / 2
            while done < end {
                let count = bytes.withUnsafeBytes {
                    systemWrite(descriptor, $0.baseAddress! + done, min(end - done, 1 << 30))
                }
                if count < 0, errno != EINTR {
                    code = errno
                    break
                }
                done += max(0, count)
            }
            if code != 0 { throw .systemCall("write", file: path, code: code) }
        }

        /// Waits until the bytes are on the disk.
        func synchronize() throws(JournalError) {
            try check(.fsync, path, fault) {
                #if canImport(Darwin)
                    // `fsync` does not wait for the cache of the disk. Some file systems have only `fsync`.
                    let code = fcntl(descriptor, F_FULLFSYNC)
                    return Int(code == 0 ? 0 : fsync(descriptor))
                #else
                    // Writes the size of the file, but not the time of its change.
                    Int(fdatasync(descriptor))
                #endif
            }
        }

        func truncate(to size: Int) throws(JournalError) {
            try check(.ftruncate, path, fault) { Int(ftruncate(descriptor, off_t(size))) }
        }

        static func rename(_ path: String, to target: String, _ fault: FileFault) throws(JournalError) {
            try check(.rename, path, fault) { Int(systemRename(path, target)) }
        }

        /// Removes a file. Has no effect if there is none.
        static func remove(_ path: String, _ fault: FileFault) throws(JournalError) {
            do throws(JournalError) {
                try check(.unlink, path, fault) { Int(unlink(path)) }
            } catch .systemCall(_, _, ENOENT) {}
        }

        /// Creates a folder and the folders around it.
        static func createFolder(_ path: String, _ fault: @escaping FileFault) throws(JournalError) {
            let parts = path.split(separator: "/")
            for count in parts.indices {
                let folder = (path.hasPrefix("/") ? "/" : "") + parts[...count].joined(separator: "/")
                if access(folder, F_OK) == 0 { continue }
                do throws(JournalError) {
                    try check(.mkdir, folder, fault) { Int(mkdir(folder, 0o755)) }
                } catch .systemCall(_, _, EEXIST) {}
                // Otherwise, a power failure could remove the folder with its files.
                try JournalFile("\(folder)/..", .read, fault).synchronize()
            }
        }

        /// The names of the files in a folder.
        static func names(in folder: String, _ fault: FileFault) throws(JournalError) -> [String] {
            let code = fault(.opendir, folder)
            guard code == 0, let entries = opendir(folder) else {
                throw .systemCall("opendir", file: folder, code: code == 0 ? errno : code)
            }
            defer { closedir(entries) }
            var names: [String] = []
            while let entry = readdir(entries) {
                names.append(
                    withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                    })
            }
            return names
        }

        static var processNumber: String { "\(getpid())" }
    }

    // The members of `JournalFile` have the same names.
    private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
    private func systemRename(_ path: String, _ target: String) -> Int32 { rename(path, target) }
    private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        write(descriptor, bytes, count)
    }

    /// Repeats a call that a signal has interrupted.
    @discardableResult
    private func check(
        _ call: FileCall, _ path: String, _ fault: FileFault, _ perform: () -> Int
    ) throws(JournalError) -> Int {
        let code = fault(call, path)
        if code != 0 { throw .systemCall(call.rawValue, file: path, code: code) }
        while true {
            let result = perform()
            if result >= 0 { return result }
            if errno != EINTR { throw .systemCall(call.rawValue, file: path, code: errno) }
        }
    }

    func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// The milliseconds since 1970.
    func wallClockTime() -> UInt64 {
        var time = timeval()
        gettimeofday(&time, nil)
        return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_usec) / 1000
    }
#else
    /// These platforms have no lock on a file that ends with the process, or no threads.
    final class JournalFile: Sendable {
        enum Mode {
            case read, append, create
        }

        let path: String

        init(_ path: String, _ mode: Mode, _ fault: @escaping FileFault) throws(JournalError) {
            throw .systemCall("open", file: path, code: Self.isUnavailable)
        }

        /// ENOSYS of POSIX.
        private static var isUnavailable: Int32 { 78 }

        func lock() throws(JournalError) -> Bool { false }
        func unlock() {}
        var size: Int { get throws(JournalError) { 0 } }
        var isLinked: Bool { get throws(JournalError) { false } }
        func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(JournalError) -> Int { 0 }
        func write(_ bytes: [UInt8]) throws(JournalError) {}
        func synchronize() throws(JournalError) {}
        func truncate(to size: Int) throws(JournalError) {}
        static func rename(_ path: String, to target: String, _ fault: FileFault) throws(JournalError) {}
        static func remove(_ path: String, _ fault: FileFault) throws(JournalError) {}
        static func createFolder(_ path: String, _ fault: @escaping FileFault) throws(JournalError) {}
        static func names(in folder: String, _ fault: FileFault) throws(JournalError) -> [String] {
            throw .systemCall("opendir", file: folder, code: isUnavailable)
        }

        static var processNumber: String { "" }
    }

    func systemMessage(_ code: Int32) -> String { "a journal is not available on this platform" }

    func wallClockTime() -> UInt64 { 0 }
#endif
