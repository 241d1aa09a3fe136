// Each script runs atomically on the server. The group's list of pending entries contains the holder of each entry and
// the number of the entry's deliveries. Together they show whether the caller still has the lease.

enum RedisScripts {
    /// KEYS: stream. ARGV: group, entry, consumer, number of deliveries.
    private static let checkHolder = """
        local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1)
        if #pending == 0 or pending[1][2] ~= ARGV[3] or pending[1][4] ~= tonumber(ARGV[4]) then return 0 end

        """

    private static let remove = """
        redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
        redis.call('XDEL', KEYS[1], ARGV[2])

        """

    private static let now = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)

        """

    /// Removes an entry. Returns 0 if the lease is lost.
    static let acknowledge = checkHolder + remove + "return 1"

    /// Additional KEYS: sorted set of delayed payloads. Additional ARGV: delay in ms, identity, attempts, payload.
    static let reject =
        checkHolder + remove + now + """
            if ARGV[5] == '0' then
                redis.call('XADD', KEYS[1], '*', 'i', ARGV[6], 'n', ARGV[7], 'p', ARGV[8])
            else
                redis.call('ZADD', KEYS[2], now + ARGV[5], cmsgpack.pack({ARGV[6], ARGV[7], ARGV[8]}))
            end
            return 1
            """

    /// Additional ARGV: the idle time in ms that the server shall record for the entry.
    static let extend =
        checkHolder + """
            redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[3], 0, ARGV[2], 'IDLE', ARGV[5], 'JUSTID')
            return 1
            """

    /// Moves delayed payloads that are due to the stream, and claims entries whose leases have ended.
    ///
    /// KEYS: stream, sorted set. ARGV: group, consumer, lease in ms, cursor, count. Returns the next cursor, followed
    /// by the entry, its number of deliveries and its fields for each claimed entry.
    static let maintain =
        now + """
            for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
                local value = cmsgpack.unpack(member)
                redis.call('XADD', KEYS[1], '*', 'i', value[1], 'n', value[2], 'p', value[3])
                redis.call('ZREM', KEYS[2], member)
            end
            local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
            local result = {claimed[1]}
            for _, entry in ipairs(claimed[2]) do
                local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
                table.insert(result, {entry[1], pending[1][4], entry[2]})
            end
            return result
            """
}
