internal import Synchronization

/// The error of a command that the server has rejected.
package struct RedisError: Error, CustomStringConvertible {
    package let description: String

    /// The error for a reply that does not have the form that the command requires.
    static func unexpected(_ reply: RESPValue) -> RedisError {
        RedisError(description: "The server has sent an unexpected reply: \("\(reply)".prefix(200))")
    }
}

/// Sends commands to a server. After a failure of the connection, the next command opens a new one. Commands are never
/// repeated.
package final class RedisClient: Sendable {
    private let address: RedisAddress
    private let password: String?
    private let current = Mutex<RedisConnection?>(nil)

    package init(_ address: RedisAddress, password: String? = nil) {
        self.address = address
        self.password = password
    }

    deinit { close() }

    /// Sends one command, and waits for its reply.
    @discardableResult
    package func command(_ command: String...) async throws -> RESPValue { try await pipeline([command])[0] }

    /// Sends several commands at once, and waits for all replies.
    package func pipeline(_ commands: [[String]]) async throws -> [RESPValue] {
        if commands.isEmpty { return [] }
        let replies = try await connection().send(commands)
        for reply in replies { if case .error(let message) = reply { throw RedisError(description: message) } }
        return replies
    }

    /// Closes the connection. The next command opens a new connection.
    package func close() {
        let connection = current.withLock { current in
            defer { current = nil }
            return current
        }
        connection?.close()
    }

    private func connection() -> RedisConnection {
        current.withLock { current in
            if let connection = current, !connection.isBroken { return connection }
            let connection = RedisConnection(to: address, password: password)
            current = connection
            return connection
        }
    }
}
