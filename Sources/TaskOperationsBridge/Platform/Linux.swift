#if os(Linux) || os(Android)
    internal import Foundation

    /// A kernel descriptor for a process. It identifies that process even after the reuse of its identifier.
    final class WatchedProcess: Sendable {
        let identifier: pid_t
        private let fileDescriptor: Int32

        init(_ identifier: pid_t) throws(SystemCallError) {
            self.identifier = identifier
            fileDescriptor = try Self.open(identifier)
        }

        deinit { close(fileDescriptor) }

        /// Returns false if the task is cancelled.
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

    /// The C library's `syscall`, which Swift does not import because it is variadic. Glibc has a wrapper for the call
    /// only since version 2.36, and a static program cannot look it up. On Linux, integer arguments are passed to a
    /// variadic function as to any other, in C as in Swift.
    @_silgen_name("syscall")
    private func systemCall(_ number: Int, _ identifier: Int, _ flags: Int) -> Int
#endif
