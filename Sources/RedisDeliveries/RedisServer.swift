package import Foundation

/// A server in a folder of its own, for examples and tests. Everything written is on disk before it is answered.
package final class RedisServer: @unchecked Sendable {
    // One thread uses a server.
    private var process: Process?
    private let executable: URL
    private let port: Int
    package let folder: URL
    package let address: RedisAddress
    package let password: String?

    /// The programs on the path, at most one of each project.
    package static var executables: [URL] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["valkey-server", "redis-server"].compactMap { name in
            folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        }.map { URL(filePath: $0) }
    }

    /// How a server can be installed.
    package static var advice: String {
        "Install one with `apt-get install redis-server` (or valkey-server), or `brew install redis` (or valkey)."
    }

    /// Starts a server, and waits until it answers.
    ///
    /// - Parameters:
    ///   - executable: The program; see `executables`.
    ///   - password: The password of clients, which connect to a random TCP port. If it is nil, there is no port: clients
    ///     connect to a socket in the folder.
    package init(_ executable: URL, password: String? = nil) async throws {
        self.executable = executable
        self.password = password
        // The path of a socket may have about 100 characters.
        folder = URL(filePath: "/tmp/deliveries-\(UInt32.random(in: 0 ... .max))")
        port = password == nil ? 0 : Int.random(in: 10_000..<32_000)
        address =
            password == nil
            ? .unix(path: folder.appending(path: "server.sock").path) : .tcp(host: "127.0.0.1", port: port)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await start()
    }

    /// Restarts the server with the data that it had written.
    package func start() async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments =
            "--bind 127.0.0.1 --unixsocket server.sock --appendonly yes --appendfsync always --daemonize no"
            .split(separator: " ").map(String.init)
            + ["--port", "\(port)", "--requirepass", password ?? "", "--save", "", "--dir", folder.path]
            + ["--logfile", "server.log"]
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process = process
        let client = RedisClient(address, password: password)
        for attempt in 1... {
            do {
                try await client.command("PING")
                return
            } catch {
                if attempt == 200 || !process.isRunning { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Kills the server, as a crash would.
    package func kill() {
        guard let process else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Kills the server, and removes its folder.
    package func remove() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }
}
