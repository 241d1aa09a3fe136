import Foundation

/// Serves all clients on one thread, which waits until any of them is readable or writable.
final class ServerLoop {
    private let listener: Int32
    private let state: ServerState
    private let files: [PathBytes: InputFile]
    private let limit: Int
    private let clients: Int
    /// The clients, in the order of their connections.
    private var connections: [ServerConnection] = []
    /// False for a moment after the system had no descriptor left for a client.
    private var canAccept = true

    init(listener: Int32, state: ServerState, files: [InputFile], upTo limit: Int, clients: Int) {
        self.listener = listener
        self.state = state
        self.files = Dictionary(files.map { ($0.relativePath, $0) }) { first, _ in first }
        self.limit = limit
        self.clients = clients
        LoopbackSocket.doNotWait(listener)
    }

    deinit { close(listener) }

    /// Serves clients until the state requests a stop.
    func run() {
        while true {
            let (isStopped, isPaused) = state.orders
            if isStopped { return }
            var entries = connections.map { connection in
                let events = connection.isResponding && !isPaused ? POLLIN | POLLOUT : POLLIN
                return pollfd(fd: connection.socket, events: Int16(events), revents: 0)
            }
            entries.append(pollfd(fd: state.wakeUp, events: Int16(POLLIN), revents: 0))
            entries.append(pollfd(fd: canAccept ? listener : -1, events: Int16(POLLIN), revents: 0))
            if poll(&entries, nfds_t(entries.count), canAccept ? -1 : 100) < 0 && errno != EINTR { return }
            canAccept = true
            if entries.removeLast().revents != 0 { accept() }
            if entries.removeLast().revents != 0 { state.takeWakeUps() }
            for entry in entries where entry.revents != 0 { serve(entry) }
        }
    }

    private func accept() {
        guard let socket = LoopbackSocket.accept(on: listener) else {
            canAccept = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED
            return
        }
        LoopbackSocket.doNotWait(socket)
        // If there are too many clients, the one that connected first is removed, because it might never send a
        // request.
        if connections.count == clients { remove(connections[0], early: true) }
        connections.append(ServerConnection(socket))
    }

    private func serve(_ entry: pollfd) {
        guard let connection = connections.first(where: { $0.socket == entry.fd }) else { return }
        var step = ServerConnection.Step.continues
        if entry.revents & Int16(POLLOUT) != 0 { step = connection.write() }
        if step == .continues, entry.revents & ~Int16(POLLOUT) != 0 { step = connection.read() }
        switch step {
        case .continues: break
        case .asks(let path):
            connection.respond(response(to: path))
            state.noteRequest(path.shown)
        case .isRefused(let fault):
            connection.respond(.message(fault.status, "refused: \(fault)"))
        case .ends(let early):
            remove(connection, early: early)
        }
    }

    private func remove(_ connection: ServerConnection, early: Bool) {
        connections.removeAll { $0 === connection }
        if early { state.noteDeparture() }
    }

    /// Returns the response to a request. Only listed files are served, so no path leads out of the folder.
    private func response(to path: PathBytes) -> ServerResponse {
        guard let file = files[path] else { return .message(404, "no such file") }
        return .of(file, upTo: limit)
    }
}
