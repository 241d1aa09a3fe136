#if !os(Windows)
    public import Dispatch

    extension DispatchSource {
        /// Returns a sequence that delivers the identifier of a process when the process has exited, and then ends.
        ///
        /// The process need not be a child of this process. The sequence does not reap the process. So the parent can
        /// still read the exit status, for example with `waitpid`. If the process has already exited and was not
        /// reaped, the sequence delivers it at once.
        ///
        /// On Linux, Dispatch has no source for processes. There, the sequence uses a pidfd, which requires Linux 5.3.
        ///
        /// - Parameter identifier: The identifier of the process.
        /// - Throws: An error with the code `ESRCH` if there is no such process. If the system cannot watch the
        ///   process, an error with the code of the system.
        public static func processExit(identifier: Int32) throws(SystemCallError) -> ProcessExit {
            try ProcessExit(identifier)
        }
    }

    /// A sequence that delivers the exit of a process. Its only element is the identifier of the process.
    public struct ProcessExit: AsyncSequence, Sendable {
        private let process: WatchedProcess

        fileprivate init(_ identifier: Int32) throws(SystemCallError) {
            process = try WatchedProcess(identifier)
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(process) }

        /// An iterator over the exit of the process.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var process: WatchedProcess?

            fileprivate init(_ process: WatchedProcess) {
                self.process = process
            }

            /// Waits until the process has exited. Returns nil if the task is cancelled. The second call returns nil at
            /// once.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SystemCallError) -> Int32? {
                guard let process = process.take() else { return nil }
                return try await process.waitForExit() ? process.identifier : nil
            }
        }
    }
#endif
