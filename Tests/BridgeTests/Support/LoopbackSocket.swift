import Foundation

/// The calls of the system that a server on the loopback interface needs.
enum LoopbackSocket {
    /// Opens a socket that listens on a port which the system chooses.
    static func listen() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return bind(listener, pointer, length) == 0 && Foundation.listen(listener, 64) == 0
                && getsockname(listener, pointer, &length) == 0
        }
        if !isListening { throw CocoaError(.fileReadUnknown, userInfo: ["errno": errno]) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; nil once the listening socket is shut down.
    static func accept(on listener: Int32) -> Int32? {
        let connection = Foundation.accept(listener, nil, nil)
        if connection < 0 { return nil }
        #if canImport(Darwin)
            var isOn: Int32 = 1
            setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return connection
    }

    /// The bytes that have come; nil where the other side has left.
    static func read(_ socket: Int32) -> Data? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? Data(bytes.prefix(count)) : nil
    }

    /// Writes all of the bytes, or as many as the other side takes before it leaves.
    static func write(_ bytes: Data, to socket: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, noSignal) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

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
