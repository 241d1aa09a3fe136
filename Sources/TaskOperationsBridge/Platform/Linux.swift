#if os(Linux) || os(Android)
    internal import Foundation

    /// A process, identified by a kernel descriptor. The descriptor stays valid if the process identifier is reused.
    final class WatchedProcess: Sendable {
        let identifier: pid_t
        private let fileDescriptor: Int32

        init(_ identifier: pid_t) throws(SystemCallError) {
            self.identifier = identifier
            fileDescriptor = try Self.open(identifier)
        }

        deinit { close(fileDescriptor) }

        /// Waits until the process has exited. Returns false if the task is cancelled.
        func waitForExit() async throws(SystemCallError) -> Bool {
            try await DescriptorPoller.shared.wait(for: .readable, on: fileDescriptor) != nil
        }

        private static func open(_ identifier: pid_t) throws(SystemCallError) -> Int32 {
            let pidfdOpen = 434
            let fileDescriptor = systemCall(pidfdOpen, Int(identifier), 0)
            if fileDescriptor < 0 { throw SystemCallError("pidfd_open") }
            return Int32(fileDescriptor)
        }
    }

    /// The C library's `syscall`. Swift does not import it, because it is variadic.
    ///
    /// Glibc has a `pidfd_open` function only since version 2.36, and a static program cannot look it up. On Linux, C
    /// and Swift pass integer arguments to variadic functions in the same way as to other functions.
    @_silgen_name("syscall")
    private func systemCall(_ number: Int, _ identifier: Int, _ flags: Int) -> Int
#endif
