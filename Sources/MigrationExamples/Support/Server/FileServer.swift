public import Foundation

/// A small HTTP server on the loopback interface, which serves the files of a folder to the recipes that download.
///
/// It serves only listed files, and of each file no more than a limit. One thread serves all clients. A client that is slow,
/// disconnects or sends a wrong request does not delay the others. The server stops when it is released.
public final class FileServer: Sendable {
    /// The default for the maximum number of bytes that are served from a file.
    public static var defaultLimit: Int { 64 * 1024 }

    private let port: UInt16
    private let state: ServerState

    /// Starts a server on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - files: The files to serve, by the paths within their folder.
    ///   - limit: The maximum number of bytes to serve from each file.
    ///   - clients: The maximum number of simultaneous clients. A further client replaces the one that connected first.
    /// - Throws: An error with a description if the system has no socket for it.
    public init(serving files: [InputFile], upTo limit: Int = defaultLimit, clients: Int = 256) throws {
        state = try ServerState()
        let listener: Int32
        (listener, port) = try LoopbackSocket.listen()
        let thread = Thread { [state] in
            ServerLoop(listener: listener, state: state, files: files, upTo: limit, clients: clients).run()
        }
        thread.name = "file server"
        thread.start()
    }

    deinit { state.stop() }

    /// Returns the URL of a file.
    public func url(of file: InputFile) -> URL {
        url(path: "/" + file.relativePath.percentEncoded)
    }

    /// Returns the URL of a percent-encoded path. The server need not have a file at the path.
    public func url(path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)")!
    }

    /// The requested paths in order, in a readable form.
    public var requests: [String] { state.requests }

    /// The number of clients that disconnected before they received the complete response.
    public var departures: Int { state.departures }

    /// Whether the server sends nothing at present. It still accepts requests, and answers them later.
    public var isPaused: Bool {
        get { state.orders.isPaused }
        set { state.setPaused(newValue) }
    }
}
