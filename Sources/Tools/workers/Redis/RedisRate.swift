/// A rate that all workers share. The server keeps its state, and applies the generic cell rate algorithm in one atomic
/// step for each start.
package final class RedisRate: Sendable {
    private let client: RedisClient
    private let name: String
    /// The time between two starts, in microseconds.
    private let interval: Int

    /// - Parameter perSecond: The number of starts per second; positive. A rate of less than one start per hour has the
    ///   effect of one start per hour.
    package init(_ name: String, perSecond: Double, at address: RedisAddress) {
        client = RedisClient(address)
        self.name = name
        interval = Int(min(1_000_000 / perSecond, 3_600_000_000))
    }

    /// One day, in microseconds.
    private static let longestWait = 86_400_000_000

    /// KEYS: rate. ARGV: microseconds between two starts. Returns the microseconds to wait.
    private static let script = """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
        redis.call('SET', KEYS[1], string.format('%.0f', start + ARGV[1]), 'PX', 60000)
        return start - now
        """

    /// Waits for the time of the start that the server assigns.
    package func wait() async throws {
        let reply = try await client.command("EVAL", Self.script, "1", name, "\(interval)")
        guard let microseconds = reply.integer else { throw RedisError.unexpected(reply) }
        // The runtime stops the process if it cannot represent the end of a sleep in nanoseconds.
        try await Task.sleep(for: .microseconds(min(microseconds, Self.longestWait)))
    }
}
