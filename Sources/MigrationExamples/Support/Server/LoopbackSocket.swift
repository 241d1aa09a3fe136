package import Foundation

/// The system calls that a server on the loopback interface needs.
package enum LoopbackSocket {
    /// Opens a socket that listens on 127.0.0.1, on a port that the system chooses.
    package static func listen() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, streamType, 0)
        if listener < 0 { throw ServerProblem("socket", errno: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return bind(listener, pointer, length) == 0 && Foundation.listen(listener, 64) == 0
                && getsockname(listener, pointer, &length) == 0
        }
        if !isListening {
            let problem = ServerProblem("listen", errno: errno)
            close(listener)
            throw problem
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// Returns the next connection; nil if there is none or the listening socket is shut down.
    package static func accept(on listener: Int32) -> Int32? {
        let connection = Foundation.accept(listener, nil, nil)
        if connection < 0 { return nil }
        #if canImport(Darwin)
            var isOn: Int32 = 1
            setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return connection
    }

    /// Makes a descriptor nonblocking, and prevents child processes from inheriting it.
    static func doNotWait(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Returns the received bytes; nil if the peer has disconnected.
    package static func read(_ socket: Int32) -> Data? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? Data(bytes.prefix(count)) : nil
    }

    /// The outcome of a nonblocking read or write.
    enum Transfer<Value> {
        case done(Value)
        case wouldWait
        case ended
    }

    /// Returns the received bytes. The socket must be nonblocking.
    static func receive(from socket: Int32) -> Transfer<[UInt8]> {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &bytes, bytes.count, 0)
        if count > 0 { return .done(Array(bytes.prefix(count))) }
        return count < 0 && mayTryAgain ? .wouldWait : .ended
    }

    /// Writes as many of the bytes as the socket accepts, and returns their number. No signal is raised if the client
    /// has disconnected. The socket must be nonblocking.
    static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Transfer<Int> {
        let count = bytes.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
        if count >= 0 { return .done(count) }
        return mayTryAgain ? .wouldWait : .ended
    }

    /// Writes all bytes, or as many as the peer accepts before it disconnects.
    package static func write(_ bytes: Data, to socket: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private static var mayTryAgain: Bool { errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }

    #if canImport(Glibc)
        private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
        private static let streamType = SOCK_STREAM
    #endif

    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}

/// The server could not be started.
package struct ServerProblem: Error, CustomStringConvertible {
    private let function: String
    private let code: Int32

    init(_ function: String, errno code: Int32) {
        self.function = function
        self.code = code
    }

    package var description: String { "cannot serve files: \(function) failed: \(String(cString: strerror(code)))" }
}
