#if !os(Windows)
    public import Dispatch

    extension DispatchSource {
        /// Returns a sequence that delivers the identifier of a process when the process has exited, and then ends.
        ///
        /// The process need not be a child. A child is not reaped: its parent can still get its status, for example
        /// with `waitpid`. A process that a parent has not reaped counts as exited.
        ///
        /// On Linux, where Dispatch has no source for this, the kernel's own descriptor for a process (a pidfd, since
        /// Linux 5.3) becomes readable when it exits.
        ///
        /// - Parameter identifier: The process.
        /// - Throws: An error with `ESRCH` if there is no such process, or with the system's reason why it cannot be
        ///   watched.
        public static func processExit(identifier: Int32) throws(SystemCallError) -> ProcessExit {
            try ProcessExit(identifier)
        }
    }

    /// The exit of a process: a sequence of one element, the identifier of the process.
    public struct ProcessExit: AsyncSequence, Sendable {
        private let process: WatchedProcess

        fileprivate init(_ identifier: Int32) throws(SystemCallError) {
            process = try WatchedProcess(identifier)
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(process) }

        /// The state of an iteration.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var process: WatchedProcess?

            fileprivate init(_ process: WatchedProcess) {
                self.process = process
            }

            /// Waits until the process has exited. Returns nil the second time, and if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SystemCallError) -> Int32? {
                guard let process = process.take() else { return nil }
                return try await process.waitForExit() ? process.identifier : nil
            }
        }
    }
#endif
