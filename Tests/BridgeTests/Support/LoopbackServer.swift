import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsTesting

/// A small HTTP server on the loopback interface, for tests. It sends real data, with delays and failures. Each
/// connection has its own thread and serves one request.
final class LoopbackServer: Sendable {
    /// The reply to a request.
    enum Reply: Sendable {
        /// A status, and a body in pieces, with a delay after each piece.
        case body(Data, status: Int = 200, pieces: Int = 1, delay: Duration = .zero)
        /// Half of the body, after which the server closes the connection.
        case broken(Data)
        /// Half of the body, after which the server sends nothing until the client disconnects.
        case stalled(Data)
        /// No reply; the server waits until the client disconnects.
        case silence
    }

    /// The received requests, by path.
    enum Event: Hashable, Sendable {
        case requested(String)
        case clientLeft(String)
    }

    let events = Recorder<Event>()
    private let replies: [String: Reply]
    private let listener: Int32
    private let port: UInt16

    /// Starts a server.
    ///
    /// - Parameter replies: The replies by path; status 404 for other paths.
    init(_ replies: [String: Reply]) throws {
        self.replies = replies
        (listener, port) = try LoopbackSocket.listen()
        Thread.detachNewThread { [listener, events] in
            while let connection = LoopbackSocket.accept(on: listener) {
                Thread.detachNewThread {
                    Connection(connection, events).serve(replies)
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }
}

/// A connection to one client of the server.
private struct Connection {
    private let socket: Int32
    private let events: Recorder<LoopbackServer.Event>

    init(_ socket: Int32, _ events: Recorder<LoopbackServer.Event>) {
        self.socket = socket
        self.events = events
    }

    func serve(_ replies: [String: LoopbackServer.Reply]) {
        defer { close(socket) }
        guard let path = readPath() else { return }
        events.record(.requested(path))
        answer(replies[path] ?? .body(Data(), status: 404), path)
    }

    private func answer(_ reply: LoopbackServer.Reply, _ path: String) {
        switch reply {
        case .body(let body, let status, let pieces, let delay):
            sendHead(status, length: body.count)
            let length = max(1, (body.count + pieces - 1) / pieces)
            for start in stride(from: 0, to: body.count, by: length) {
                send(body[start..<min(start + length, body.count)])
                if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
            }
        case .broken(let body):
            sendHead(200, length: body.count)
            send(body.prefix(body.count / 2))
        case .stalled(let body):
            sendHead(200, length: body.count)
            send(body.prefix(body.count / 2))
            waitUntilClientLeaves(path)
        case .silence:
            waitUntilClientLeaves(path)
        }
    }

    /// Returns the path of the request; nil if the client disconnects before the request is complete.
    private func readPath() -> String? {
        var request = Data()
        while request.range(of: Data("\r\n\r\n".utf8)) == nil {
            guard let bytes = LoopbackSocket.read(socket) else { return nil }
            request += bytes
        }
        let line = String(decoding: request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        return line.split(separator: " ").dropFirst().first.map(String.init)
    }

    private func sendHead(_ status: Int, length: Int) {
        send(Data("HTTP/1.1 \(status) Status\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\n".utf8))
    }

    private func send(_ bytes: Data) {
        LoopbackSocket.write(bytes, to: socket)
    }

    private func waitUntilClientLeaves(_ path: String) {
        while LoopbackSocket.read(socket) != nil {}
        events.record(.clientLeft(path))
    }
}
