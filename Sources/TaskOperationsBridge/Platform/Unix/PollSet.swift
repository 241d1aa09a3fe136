#if !os(Windows)
    internal import Foundation

    /// The descriptors of one `poll` call. Each descriptor is listed once, regardless of the number of waiters. The
    /// system accepts only as many descriptors as a process may have open.
    struct PollSet {
        private let pipe: WakingPipe
        /// The requests. The first is the request of `pipe`.
        private var requests: [pollfd]
        private var positions: [Int32: Int] = [:]

        init(_ pipe: WakingPipe) {
            self.pipe = pipe
            requests = [pipe.pollRequest]
        }

        var isPipeReady: Bool { requests[0].revents != 0 }

        mutating func insert(_ fileDescriptor: Int32, _ events: DescriptorEvents) {
            if let position = positions[fileDescriptor] {
                requests[position].events |= events.rawValue
            } else {
                positions[fileDescriptor] = requests.count
                requests.append(pollfd(fd: fileDescriptor, events: events.rawValue, revents: 0))
            }
        }

        /// Blocks until the pipe or a descriptor is ready.
        mutating func poll() throws(SystemCallError) {
            if Foundation.poll(&requests, nfds_t(requests.count), -1) >= 0 { return }
            let error = SystemCallError("poll")
            // The limit was lowered after these descriptors were opened.
            guard error.code == EINVAL, let limit = Self.limit, limit < requests.count else { throw error }
            while try !pollPortions(of: limit) {}
        }

        /// Returns the result of the poll for a descriptor; nil if no event occurred.
        func outcome(
            _ fileDescriptor: Int32, _ events: DescriptorEvents
        ) -> Result<DescriptorEvents, SystemCallError>? {
            positions[fileDescriptor].flatMap { requests[$0].outcome(for: events) }
        }

        /// Polls all descriptors in portions that the system accepts. Returns whether a descriptor is ready. If none is
        /// ready, waits up to 10 milliseconds.
        private mutating func pollPortions(of count: Int) throws(SystemCallError) -> Bool {
            var readyCount: Int32 = 0
            for start in stride(from: 0, to: requests.count, by: count) {
                let length = min(count, requests.count - start)
                let isLast = start + length == requests.count
                let result = requests.withUnsafeMutableBufferPointer { requests in
                    Foundation.poll(requests.baseAddress! + start, nfds_t(length), isLast && readyCount == 0 ? 10 : 0)
                }
                if result < 0 { throw SystemCallError("poll") }
                readyCount += result
            }
            return readyCount > 0
        }

        /// The number of descriptors that the process may have open; nil if it is unknown or 0.
        private static var limit: Int? {
            let limit = sysconf(Int32(_SC_OPEN_MAX))
            return limit > 0 ? limit : nil
        }
    }

    extension pollfd {
        /// Returns the result of the poll for a waiter for `events`; nil if no event occurred.
        func outcome(for events: DescriptorEvents) -> Result<DescriptorEvents, SystemCallError>? {
            if revents & Int16(POLLNVAL) != 0 { return .failure(SystemCallError("poll", code: EBADF)) }
            let relevant = events.union([.hangUp, .failed]).intersection(DescriptorEvents(rawValue: revents))
            return relevant.isEmpty ? nil : .success(relevant)
        }
    }
#endif
