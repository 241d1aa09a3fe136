import TaskOperations

/// The input of a recipe. Both sides of a recipe receive equal inputs.
public struct RecipeInput: Sendable {
    /// The folder with the user's files.
    public let folder: InputFolder
    /// The first of the files, for recipes that show a pattern and need no whole folder.
    public let sample: [InputFile]
    /// Tells the legacy side to stop. The ported side does not use it, because its task is cancelled.
    public let cancellation: CancellationSignal
    private let lazyServer = LazyServer()

    /// Creates an input. By default, its cancellation signal is never sent.
    public init(_ folder: InputFolder, cancellation: CancellationSignal = CancellationSignal()) {
        self.folder = folder
        sample = Array(folder.files.prefix(500))
        self.cancellation = cancellation
    }

    /// The files of the folder, in the order of their paths.
    public var files: [InputFile] { folder.files }

    /// A server for the folder's files over HTTP. It starts at the first use, and stops when the input is released.
    public var server: FileServer {
        get throws { try lazyServer.server(of: files) }
    }
}

/// A server that is started once, at the first use.
private final class LazyServer: Sendable {
    private let started = Lock<FileServer?>(nil)

    func server(of files: [InputFile]) throws -> FileServer {
        try started.withLock { server in
            if let server { return server }
            let new = try FileServer(serving: files)
            server = new
            return new
        }
    }
}
