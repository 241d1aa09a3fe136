public import Dispatch

#if os(Linux) || os(Android)
    public import Foundation
#else
    internal import Foundation
#endif

extension DispatchSource {
    /// Delivers the identifier of a process once that has exited, and ends.
    ///
    /// The process need not be a child. A child is not reaped: its parent can still ask for its status, as with
    /// `waitpid`. A process that a parent has not reaped counts as exited.
    ///
    /// On Linux, where Dispatch has no source for this, the kernel's own descriptor for a process (a pidfd, since
    /// Linux 5.3) becomes readable when it exits.
    ///
    /// - Parameter identifier: The process.
    /// - Throws: An error with `ESRCH` if there is no such process, or with the system's reason why it cannot be
    ///   watched.
    public static func processExit(identifier: pid_t) throws(SystemCallError) -> ProcessExit {
        try ProcessExit(identifier)
    }
}

#if os(Linux) || os(Android)
    /// The exit of a process: a sequence of one element, the identifier of the process.
    public struct ProcessExit: AsyncSequence, Sendable {
        private let process: ProcessDescriptor

        fileprivate init(_ identifier: pid_t) throws(SystemCallError) {
            process = try ProcessDescriptor(identifier)
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(process) }

        /// Where an iteration stands.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var process: ProcessDescriptor?

            fileprivate init(_ process: ProcessDescriptor) {
                self.process = process
            }

            /// Waits until the process has exited. Returns nil the second time, and where the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SystemCallError) -> pid_t? {
                guard let process = process.take() else { return nil }
                return try await process.waitForExit() ? process.identifier : nil
            }
        }
    }

    /// A kernel descriptor for a process, which stands for that process also where its identifier is used again.
    private final class ProcessDescriptor: Sendable {
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

    /// The C library's `syscall`, which Swift does not import because it is variadic. The C library has a function of its
    /// own for the call only since 2.36, and a static program cannot look one up. On Linux, integer arguments are passed
    /// to a variadic function as to any other, in C as in Swift.
    @_silgen_name("syscall")
    private func systemCall(_ number: Int, _ identifier: Int, _ flags: Int) -> Int
#else
    /// The exit of a process: a sequence of one element, the identifier of the process.
    public struct ProcessExit: AsyncSequence, Sendable {
        private let events: DispatchSourceEvents<pid_t>

        fileprivate init(_ identifier: pid_t) throws(SystemCallError) {
            if kill(identifier, 0) != 0, errno == ESRCH { throw SystemCallError("kill") }
            let source = DispatchSource.makeProcessSource(identifier: identifier, eventMask: .exit, queue: bridgeQueue)
            events = DispatchSourceEvents(
                SourceSubscription(source, isWatched: true, isSingle: true) { _ in identifier })
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: events.makeAsyncIterator()) }

        /// Where an iteration stands.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var events: DispatchSourceEvents<pid_t>.AsyncIterator

            /// Waits until the process has exited. Returns nil the second time, and where the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SystemCallError) -> pid_t? {
                await events.next()
            }
        }
    }
#endif
