public import Foundation

/// A small HTTP server on the loopback interface, which serves the files of a folder to the recipes that download.
///
/// It serves only listed files, and of each file no more than a limit. One thread serves all clients. A client that is slow,
/// disconnects or sends a wrong request does not delay the others. The server stops when it is released.
public final class FileServer: Sendable {
    /// How much of a file is served where nothing else is said.
    public static var defaultLimit: Int { 64 * 1024 }

    private let port: UInt16
    private let state: ServerState

    /// Starts a server on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - files: The files to serve, by the paths within their folder.
    ///   - limit: How many bytes of a file are served at most.
    ///   - clients: How many there may be at once. One more, and the one that is here longest has to go.
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

    /// Where a file is to be had.
    public func url(of file: InputFile) -> URL {
        url(path: "/" + file.relativePath.percentEncoded)
    }

    /// A URL with a path that is percent-encoded already, which need not lead anywhere.
    public func url(path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)")!
    }

    /// The paths that were asked for so far, in order, for people to read.
    public var requests: [String] { state.requests }

    /// How many clients left before they had all that they asked for.
    public var departures: Int { state.departures }

    /// Whether the server sends nothing for the time being. It takes requests in, and answers them later.
    public var isPaused: Bool {
        get { state.orders.isPaused }
        set { state.setPaused(newValue) }
    }
}
