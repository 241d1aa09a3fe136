#if os(Linux) || os(Android)
    internal import CTaskOperations
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
            let fileDescriptor = taskOperationsOpenProcess(identifier)
            if fileDescriptor < 0 { throw SystemCallError("pidfd_open") }
            return fileDescriptor
        }
    }
#endif
