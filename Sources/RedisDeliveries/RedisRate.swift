/// A rate that all workers share. The server keeps its state, and applies the generic cell rate algorithm in one atomic
/// step for each start.
package final class RedisRate: Sendable {
    private let client: RedisClient
    private let name: String
    private let interval: Duration

    package init(_ name: String, perSecond: Double, at address: RedisAddress) {
        client = RedisClient(address)
        self.name = name
        interval = .seconds(1) / perSecond
    }

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
        let microseconds = Int(interval / .microseconds(1))
        let reply = try await client.command("EVAL", Self.script, "1", name, "\(microseconds)")
        try await Task.sleep(for: .microseconds(reply.integer ?? 0))
    }
}
