import Foundation

/// A connection to one client, from its request to its end. Each connection serves one request.
final class ServerConnection {
    let socket: Int32
    private var phase = Phase.reading([])

    private enum Phase {
        /// The server has received the given beginning of a request.
        case reading([UInt8])
        /// The server sends these bytes, and then the contents of the file.
        case responding(ArraySlice<UInt8>, FileBody?)
        /// The response was sent completely. Further bytes from the client are ignored, so that the client receives the
        /// response before the connection closes.
        case drain(left: Int)
    }

    /// The effect of an event of the connection.
    enum Step: Equatable {
        case continues
        /// A request was received and must be answered.
        case asks(PathBytes)
        /// A request is refused.
        case isRefused(RequestHead.Fault)
        /// The connection must be closed. `early` is true if the client disconnected before it received the complete
        /// response.
        case ends(early: Bool)
    }

    init(_ socket: Int32) {
        self.socket = socket
    }

    deinit { close(socket) }

    var isResponding: Bool {
        if case .responding = phase { true } else { false }
    }

    /// Reads the bytes that the client sent.
    func read() -> Step {
        let bytes: [UInt8]
        switch LoopbackSocket.receive(from: socket) {
        case .wouldWait: return .continues
        case .ended: return .ends(early: isResponding)
        case .done(let received): bytes = received
        }
        switch phase {
        case .reading(let before): return take(before + bytes)
        case .responding: return .continues  // only one request is served; further bytes are ignored
        case .drain(let left):
            phase = .drain(left: left - bytes.count)
            return left > bytes.count ? .continues : .ends(early: false)
        }
    }

    private func take(_ request: [UInt8]) -> Step {
        phase = .reading(request)
        do throws(RequestHead.Fault) {
            guard let head = try RequestHead.parse(request) else { return .continues }
            return .asks(head.path)
        } catch {
            return .isRefused(error)
        }
    }

    /// Begins to send the response.
    func respond(_ response: ServerResponse) {
        phase = .responding(response.head[...], response.body)
    }

    /// Sends as many bytes as the client accepts now, up to one piece.
    func write() -> Step {
        guard case .responding(var bytes, let body) = phase else { return .continues }
        if bytes.isEmpty, let body {
            // A file that became shorter than its announced length cannot be sent completely.
            guard let next = try? body.next() else { return .ends(early: true) }
            bytes = next[...]
        }
        switch LoopbackSocket.send(bytes, to: socket) {
        case .wouldWait: break
        case .ended: return .ends(early: true)
        case .done(let count): bytes = bytes.dropFirst(count)
        }
        if bytes.isEmpty, body?.isAtEnd ?? true {
            shutdown(socket, Int32(SHUT_WR))
            phase = .drain(left: 1 << 20)
        } else {
            phase = .responding(bytes, body)
        }
        return .continues
    }
}
