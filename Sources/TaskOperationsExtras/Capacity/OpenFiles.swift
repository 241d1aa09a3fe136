internal import CTaskOperations
public import TaskOperations

extension AsyncSemaphore {
    /// Creates a semaphore with a permit for each file, socket and pipe that the process may have open at the same time.
    ///
    /// Create one semaphore for the process. All work that opens files takes its permits. If a process opens too many
    /// files, calls fail with the error "too many open files", often in a part of the program that opens few.
    ///
    /// ```swift
    /// let files = AsyncSemaphore.forOpenFiles()
    ///
    /// for name in names {
    ///     copies.addOperation(.limit(files, weight: 2)) { try await copy(name) }
    /// }
    /// let text = try await files.withPermit { try await read(path) }
    /// ```
    ///
    /// The capacity is the present limit of the process (on Unix the soft limit of `RLIMIT_NOFILE`; `ulimit -n` shows
    /// it), less the reserved number, but at least 1. A later change of the limit does not change the capacity; set
    /// `capacity`. Where the system has no such limit, as on Windows, it is 65,536.
    ///
    /// - Parameters:
    ///   - reserved: The number of files that the process opens without the semaphore, such as the standard streams, and
    ///     the files of the runtime and of libraries. Not negative.
    ///   - name: The name of the semaphore in messages and descriptions.
    public static func forOpenFiles(reserving reserved: Int = 64, name: String? = "open files") -> AsyncSemaphore {
        require(reserved >= 0, "the number of reserved files is \(reserved); it must not be negative.")
        return AsyncSemaphore(capacity: max(1, Int(taskOperationsOpenFileLimit()) - reserved), name: name)
    }
}
