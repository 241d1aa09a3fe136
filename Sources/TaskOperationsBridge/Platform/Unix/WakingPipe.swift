#if !os(Windows)
    internal import Foundation

    /// A pipe that wakes a thread of this process from `poll`. It is never closed.
    struct WakingPipe: Sendable {
        private let readEnd: Int32
        private let writeEnd: Int32

        init() throws(SystemCallError) {
            var ends: [Int32] = [-1, -1]
            if pipe(&ends) != 0 { throw SystemCallError("pipe") }
            for end in ends {
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            }
            (readEnd, writeEnd) = (ends[0], ends[1])
        }

        var pollRequest: pollfd { pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0) }

        /// Makes `pollRequest` ready. If the pipe is full, `pollRequest` is already ready.
        func wake() {
            var byte: UInt8 = 0
            _ = write(writeEnd, &byte, 1)
        }

        /// Removes the bytes that `wake()` has written.
        func clear() {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(readEnd, &bytes, bytes.count) == bytes.count {}
        }
    }
#endif
