package import Foundation

/// A server in a folder of its own, for examples and tests: no port, everything written is on disk before it is answered.
package final class RedisServer: @unchecked Sendable {
    // One thread uses a server.
    private var process: Process?
    private let executable: URL
    package let folder: URL

    /// The program on the path, of either project; nil if there is none.
    package static var executable: URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = ["valkey-server", "redis-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }
    }

    /// How a server can be installed.
    package static var advice: String {
        "Install one with `apt-get install redis-server` (or valkey-server), or `brew install redis` (or valkey)."
    }

    package var address: RedisAddress { .unix(path: folder.appending(path: "server.sock").path) }

    /// Starts a server, and waits until it answers.
    ///
    /// - Parameter executable: The program; see `executable`.
    package init(_ executable: URL) async throws {
        self.executable = executable
        // The path of a socket may have about 100 characters.
        folder = URL(filePath: "/tmp/deliveries-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await start()
    }

    /// Starts the server again, with what it had written.
    package func start() async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments =
            "--port 0 --unixsocket server.sock --appendonly yes --appendfsync always --daemonize no".split(
                separator: " "
            )
            .map(String.init) + ["--save", "", "--dir", folder.path, "--logfile", "server.log"]
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process = process
        let client = RedisClient(address)
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
