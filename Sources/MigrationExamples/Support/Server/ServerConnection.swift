import Foundation

/// One client of the server, from its request to its end. Each connection serves one request.
final class ServerConnection {
    let socket: Int32
    private var phase = Phase.reading([])

    private enum Phase {
        /// The beginning of a request has come.
        case reading([UInt8])
        /// These bytes are sent, and then the contents of the file.
        case responding(ArraySlice<UInt8>, FileBody?)
        /// All is sent. Further bytes of the client are ignored, so that it gets the response before the end.
        case drain(left: Int)
    }

    /// The effect of an event of the connection.
    enum Step: Equatable {
        case goesOn
        /// A request came, and is to be answered.
        case asks(PathBytes)
        /// A request is refused.
        case isRefused(RequestHead.Fault)
        /// The connection is to be closed. Where the client left before it had all, that is told.
        case ends(early: Bool)
    }

    init(_ socket: Int32) {
        self.socket = socket
    }

    deinit { close(socket) }

    var isResponding: Bool {
        if case .responding = phase { true } else { false }
    }

    /// Reads the bytes that the client has sent.
    func read() -> Step {
        let bytes: [UInt8]
        switch LoopbackSocket.receive(from: socket) {
        case .wouldWait: return .goesOn
        case .ended: return .ends(early: isResponding)
        case .done(let received): bytes = received
        }
        switch phase {
        case .reading(let before): return take(before + bytes)
        case .responding: return .goesOn  // one request is served, what follows it is not
        case .drain(let left):
            phase = .drain(left: left - bytes.count)
            return left > bytes.count ? .goesOn : .ends(early: false)
        }
    }

    private func take(_ request: [UInt8]) -> Step {
        phase = .reading(request)
        do throws(RequestHead.Fault) {
            guard let head = try RequestHead.parse(request) else { return .goesOn }
            return .asks(head.path)
        } catch {
            return .isRefused(error)
        }
    }

    /// Begins to answer.
    func respond(_ response: ServerResponse) {
        phase = .responding(response.head[...], response.body)
    }

    /// Sends as much as the client takes now, up to a piece.
    func write() -> Step {
        guard case .responding(var bytes, let body) = phase else { return .goesOn }
        if bytes.isEmpty, let body {
            // A file that has become shorter than its announced length is not sent to its end.
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
        return .goesOn
    }
}
