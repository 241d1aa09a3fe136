/// The point at which a journal waits for the disk.
///
/// With each policy, a record is in the memory of the system before a call returns. So no record is lost if the process
/// ends. The policies differ in the records that a power failure can lose.
public enum JournalDurability: Hashable, Sendable {
    /// Waits for the disk before a call returns. Callers that arrive during a wait share the next one. A power failure
    /// loses no record for which a call has returned.
    case everyRecord
    /// Waits for the disk at this interval, and when the journal is closed. A power failure can lose the records of
    /// the last interval.
    case interval(Duration)
    /// Waits for the disk only when a segment is complete, and when the journal is closed.
    case never
}

/// The configuration of a `JournalEngine`.
public struct JournalConfiguration: Sendable {
    /// The point at which the journal waits for the disk.
    public var durability: JournalDurability

    /// The time for which a worker holds a delivery. It must be positive. At an opening, no lease of an earlier process
    /// is left.
    public var lease: Duration

    /// The number of failed attempts after which a delivery is a dead letter, at least 1. An attempt fails if it is
    /// rejected with an error, if its lease ends, and if its process ends. Attempts that were given back do not count.
    public var maxAttempts: Int

    /// The size at which a new segment begins, in bytes.
    public var segmentSize = 64 << 20

    /// The number of bytes that may be in the files beside those of the current deliveries. If the files have more, and
    /// more than twice the bytes of the deliveries, the journal is compacted.
    public var compactionThreshold = 16 << 20

    /// The clock that measures leases and delays while the journal is open.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// The milliseconds since 1970, for delays that begin in one process and end in another.
    package var wallClock: @Sendable () -> UInt64 = { wallClockTime() }

    package var fault: FileFault = { _, _ in 0 }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - durability: The point at which the journal waits for the disk.
    ///   - lease: The time for which a worker holds a delivery; positive.
    ///   - maxAttempts: The number of failed attempts after which a delivery is a dead letter, at least 1.
    public init(
        durability: JournalDurability = .everyRecord, lease: Duration = .seconds(30), maxAttempts: Int = 5
    ) {
        self.durability = durability
        self.lease = lease
        self.maxAttempts = maxAttempts
    }
}
