#if !os(Windows)
    public import Dispatch
    internal import Foundation

    /// The state of a file descriptor.
    public struct DescriptorEvents: OptionSet, Hashable, Sendable {
        public let rawValue: Int16

        public init(rawValue: Int16) {
            self.rawValue = rawValue
        }

        private init(_ flag: some BinaryInteger) {
            rawValue = Int16(flag)
        }

        /// Reading does not block, because there are bytes, a connection, or the end of the file.
        public static let readable = Self(POLLIN)
        /// Writing does not block.
        public static let writable = Self(POLLOUT)
        /// The other end was closed. Data that was written earlier can still be read.
        public static let hangUp = Self(POLLHUP)
        /// An error is pending. Reading or writing will report the error. For a pipe, the other end may have been
        /// closed for reading.
        public static let failed = Self(POLLERR)
    }

    /// A sequence with an element whenever a file descriptor can be read or written.
    ///
    /// An element is the current state of the descriptor, not a change. While the descriptor is ready, the next element
    /// is available at once. So read or write all available data before you request the next element. Leave the loop at
    /// the end of the file.
    ///
    /// The descriptor is polled only while a task waits for the next element. The sequence does not close the
    /// descriptor. The owner of the descriptor can close it while no task waits.
    public struct DescriptorReadiness: AsyncSequence, Sendable {
        fileprivate let fileDescriptor: Int32
        fileprivate let events: DescriptorEvents

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }

        /// An iterator over the states of the descriptor.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let sequence: DescriptorReadiness

            /// Waits until the descriptor is ready. Returns nil if the task is cancelled.
            ///
            /// - Throws: An error with `EBADF` if the descriptor is not open.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(SystemCallError) -> DescriptorEvents? {
                try await DescriptorPoller.shared.wait(for: sequence.events, on: sequence.fileDescriptor)
            }
        }
    }

    extension DispatchSource {
        /// Returns a sequence with an element whenever a file descriptor can be read without blocking.
        ///
        /// ```swift
        /// for try await _ in DispatchSource.readEvents(fileDescriptor: socket) {
        ///     let count = read(socket, &buffer, buffer.count)
        ///     if count <= 0 { break }
        /// }
        /// ```
        ///
        /// The sequence does not use a Dispatch source. On Linux, a Dispatch source reports a hang-up only once, even
        /// if unread bytes remain. It also does not work for `/dev/null` and folders.
        ///
        /// - Parameter fileDescriptor: The descriptor. The sequence does not close it.
        public static func readEvents(fileDescriptor: Int32) -> DescriptorReadiness {
            DescriptorReadiness(fileDescriptor: fileDescriptor, events: .readable)
        }

        /// Returns a sequence with an element whenever a file descriptor can be written without blocking, or writing
        /// would fail.
        ///
        /// The sequence does not use a Dispatch source. On Linux, a Dispatch source does not report that the reader of
        /// a full pipe was closed. Instead, it keeps a processor busy.
        ///
        /// - Parameter fileDescriptor: The descriptor. The sequence does not close it.
        public static func writeEvents(fileDescriptor: Int32) -> DescriptorReadiness {
            DescriptorReadiness(fileDescriptor: fileDescriptor, events: .writable)
        }
    }
#endif
