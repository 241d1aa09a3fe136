import TaskOperations

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The address of a server.
package enum RedisAddress: Hashable, Sendable {
    case unix(path: String)
    case tcp(host: String, port: Int)
}

/// The error of a connection that failed or was not established.
package struct RedisConnectionError: Error, CustomStringConvertible {
    package let description: String
}

/// A stream socket.
struct Socket: ~Copyable, Sendable {
    let descriptor: CInt

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Connects.
    ///
    /// - Parameter timeout: The maximum time for each address of the host.
    static func connect(to address: RedisAddress, timeout: Duration) throws(RedisConnectionError) -> Socket {
        switch address {
        case .unix(let path): try connect(toPath: path, timeout)
        case .tcp(let host, let port): try connect(toHost: host, port, timeout)
        }
    }

    private static func connect(toPath path: String, _ timeout: Duration) throws(RedisConnectionError) -> Socket {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let size = MemoryLayout.size(ofValue: address.sun_path)
        if path.utf8.count >= size { throw RedisConnectionError(description: "The socket's path is too long: \(path)") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return try withUnsafeBytes(of: &address) { bytes throws(RedisConnectionError) in
            let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return try open(AF_UNIX, address, length, timeout)
        }
    }

    private static func connect(
        toHost host: String, _ port: Int, _ timeout: Duration
    ) throws(RedisConnectionError) -> Socket {
        var hints = addrinfo()
        hints.ai_socktype = streamType
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0, let first = list else {
            throw RedisConnectionError(description: "Cannot find \(host): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let info = next?.pointee {
            next = info.ai_next
            do {
                return try open(info.ai_family, info.ai_addr, info.ai_addrlen, timeout)
            } catch  where next == nil { throw error } catch {}
        }
        throw RedisConnectionError(description: "Cannot connect to \(host):\(port)")
    }

    private static func open(
        _ family: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ timeout: Duration
    ) throws(RedisConnectionError) -> Socket {
        let descriptor = socket(family, streamType, 0)
        if descriptor < 0 { throw failure("socket") }
        let opened = Socket(descriptor)
        var time = timeval(tv_sec: max(1, Int(timeout.saturated.components.seconds)), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var yes: CInt = 1
        if family != AF_UNIX {
            setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
        }
        #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<CInt>.size))
        #endif
        if systemConnect(descriptor, address, length) != 0 { throw failure("connect") }
        return opened
    }

    /// Waits for bytes, and reads them.
    func read(into buffer: inout [UInt8]) throws(RedisConnectionError) -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count > 0 { return count }
            if count == 0 { throw RedisConnectionError(description: "The server has closed the connection.") }
            if errno != EINTR { throw Self.failure("recv") }
        }
    }

    /// Writes bytes. Returns the number of written bytes, which is less than the number of bytes only if the rest would
    /// block the thread.
    func write(_ bytes: [UInt8], mayBlock: Bool) throws(RedisConnectionError) -> Int {
        let flags = mayBlock ? flags : flags | CInt(MSG_DONTWAIT)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN && !mayBlock {
                return written
            } else if errno != EINTR && errno != EAGAIN {
                // `EAGAIN` of a blocking call is the end of the timeout for connecting, which also applies to writes.
                throw Self.failure("send")
            }
        }
        return written
    }

    /// Ends the current reads and writes of other threads.
    func interrupt() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    private static func failure(_ call: String) -> RedisConnectionError {
        RedisConnectionError(description: "\(call): \(String(cString: strerror(errno)))")
    }
}

#if canImport(Glibc)
    private let streamType = CInt(SOCK_STREAM.rawValue)
#else
    private let streamType = SOCK_STREAM
#endif
#if canImport(Darwin)
    private let flags: CInt = 0
#else
    private let flags = CInt(MSG_NOSIGNAL)
#endif

private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}
