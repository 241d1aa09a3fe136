import Foundation
import Testing

@testable import MigrationExamplesSupport

/// A client that sends arbitrary bytes and returns the bytes of the response.
final class RawClient {
    private let socket: Int32

    /// Connects to the server of a URL.
    init(_ url: URL) throws {
        #if canImport(Glibc)
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(try #require(url.port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
        try #require(isConnected)
    }

    deinit { close(socket) }

    func send(_ bytes: some Sequence<UInt8>) {
        LoopbackSocket.write(Data(bytes), to: socket)
    }

    func send(_ text: String) {
        send(text.utf8)
    }

    /// Returns all bytes that the server sends before it closes the connection.
    func received() -> RawResponse {
        var bytes = Data()
        while let more = LoopbackSocket.read(socket) { bytes += more }
        return RawResponse(bytes)
    }
}

/// The response of a server.
struct RawResponse {
    /// The status code; nil if there is none.
    let status: Int?
    let head: String
    let body: Data

    init(_ bytes: Data) {
        let end = bytes.range(of: Data("\r\n\r\n".utf8))
        head = String(decoding: bytes[..<(end?.lowerBound ?? bytes.endIndex)], as: UTF8.self)
        body = end.map { Data(bytes[$0.upperBound...]) } ?? Data()
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
}
