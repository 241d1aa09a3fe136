package import Foundation

/// A server in its own folder, for examples and tests. Writes reach the disk before the server replies.
package final class RedisServer: @unchecked Sendable {
    // Only one thread uses a server.
    private var process: Process?
    private let executable: URL
    private let port: Int
    package let folder: URL
    package let address: RedisAddress
    package let password: String?

    /// The server programs on `PATH`, at most one for each project.
    package static var executables: [URL] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["valkey-server", "redis-server"].compactMap { name in
            folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        }.map { URL(filePath: $0) }
    }

    /// Instructions for installing a server.
    package static var advice: String {
        "Install one with `apt-get install redis-server` (or valkey-server), or `brew install redis` (or valkey)."
    }

    /// Starts a server, and waits until it replies.
    ///
    /// - Parameters:
    ///   - executable: The program; see `executables`.
    ///   - password: The password of clients, which connect to a random TCP port. If it is nil, the server has no
    ///     port, and clients connect to a socket in the folder.
    package init(_ executable: URL, password: String? = nil) async throws {
        self.executable = executable
        self.password = password
        // The path of a socket is limited to approximately 100 characters.
        folder = URL(filePath: "/tmp/deliveries-\(UInt32.random(in: 0 ... .max))")
        port = password == nil ? 0 : Int.random(in: 10_000..<32_000)
        address =
            password == nil
            ? .unix(path: folder.appending(path: "server.sock").path) : .tcp(host: "127.0.0.1", port: port)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await start()
    }

    /// Restarts the server with the data on the disk.
    package func start() async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = [
            "--bind", "127.0.0.1", "--unixsocket", "server.sock", "--appendonly", "yes", "--appendfsync", "always",
            "--daemonize", "no", "--port", "\(port)", "--requirepass", password ?? "", "--save", "", "--dir",
            folder.path, "--logfile", "server.log",
        ]
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

    /// Kills the server without a shutdown, as a crash would.
    package func kill() {
        guard let process else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Kills the server, and deletes its folder.
    package func remove() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }
}
