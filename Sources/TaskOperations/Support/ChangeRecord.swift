internal import CTaskOperations

/// One change of an operation or of a queue, as recorders keep it: 32 bytes without references.
package struct ChangeRecord: Sendable {
    /// The kinds of records. The raw values are part of the format of recorded files.
    package enum Kind: UInt8, Sendable {
        /// The operation was added. The detail is `arrivalDetail`.
        case added = 1
        /// The operation's dependencies are finished, and its delay is over.
        case ready
        /// The operation started.
        case started
        /// The body has lent its permit.
        case lent
        /// The body continues with a permit.
        case returned
        /// The operation was cancelled.
        case cancelled
        /// The operation's level has changed to the detail.
        case level
        /// The body runs again. The detail is the number of the attempt; 255 for larger numbers.
        case attempt
        /// The operation has ended. The detail is an `End`.
        case finished
        /// The operation depends on the operation whose address is the value.
        case dependency
        /// The operation takes permits of a limit. The value is the place of the limit's name, which may be empty.
        case limit
        /// The body waits. The value is the address of the awaited operation; 0 if the body awaits something else.
        case waits
        /// The body continues after a wait. The detail is the `waitDetail` of the awaited operation.
        case waited
        /// The name of the operation is at the place in the value. Without an operation: the name of the queue.
        case name
        /// The width of the queue is the value.
        case width
        case suspended
        case resumed
    }

    /// How an operation ended.
    package enum End: UInt8, Sendable {
        case succeeded, failed, cancelled, timedOut, dependencyFailed, dropped, limitFull
        /// The operation left the queue unfinished.
        case withdrawn
    }

    /// The bit of `queue` in a record that repeats a present state. Its number is that of the last change.
    package static let presentBit: UInt64 = 1 << 63

    /// The low 32 bits of the change's number in its queue, and above them those of the operation's number.
    package var numbers: UInt64
    /// The ticks of the change. For some kinds, a value instead.
    package var value: UInt64
    /// The address of the operation, and above its 56 bits the detail.
    package var operation: UInt64
    /// The number of the queue, and above its 56 bits the kind.
    package var queue: UInt64

    @inline(__always)
    init(_ kind: Kind, number: UInt64, operation: UInt64, arrival: UInt64, value: UInt64) {
        numbers = UInt64(UInt32(truncatingIfNeeded: number)) | arrival << 32
        self.value = value
        self.operation = operation
        queue = UInt64(kind.rawValue) << 56
    }

    /// Whether the value refers to a name.
    package var isNamed: Bool {
        let kind = UInt8(truncatingIfNeeded: queue >> 56) & 0x7F
        return value != 0 && (kind == Kind.name.rawValue || kind == Kind.limit.rawValue)
    }

    /// A part of the identity of an awaited operation, by which a reader finds the wait that is over.
    package static func waitDetail(_ identity: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: identity >> 5) }
}

/// Keeps the records of queues.
package protocol ChangeRecorder: AnyObject, Sendable {
    /// Appends the records of one step of a queue, in order. Called under the lock of the queue, so it must not wait.
    ///
    /// - Parameter names: The names to which the values of some records refer, by their index plus 1.
    func append(_ records: UnsafeBufferPointer<ChangeRecord>, naming names: [String], of queue: UInt64)

    /// The number of the part that is written. In each part, the state of all queues is written again, so that it can be
    /// read after older parts are overwritten.
    var part: UInt64 { get }

    /// The number of records that the state of all queues may take in a part, which must leave room for changes.
    var room: Int { get }

    /// Returns whether the caller must write the state of all queues. True once in each part.
    func takeDuty() -> Bool

    /// Called when an operation has ended with `TaskOperationError.timedOut`.
    func noteTimeout()
}

// MARK: - Time

/// The clock of change records.
package enum Ticks {
    /// Whether ticks are those of the processor's counter, which is read in half the time of the monotonic clock.
    private static let isCounter = taskOperationsHasCounter() != 0

    @inline(__always)
    package static var now: UInt64 { isCounter ? taskOperationsCounter() : taskOperationsNanoseconds() }

    /// The present ticks, and the same moment in nanoseconds of the monotonic clock.
    package static var pair: (ticks: UInt64, nanoseconds: UInt64) { pair(of: taskOperationsNanoseconds) }

    private static func pair(of clock: () -> UInt64) -> (ticks: UInt64, nanoseconds: UInt64) {
        if !isCounter {
            let now = clock()
            return (now, now)
        }
        // The middle of two readings halves the error if the thread loses its processor between them.
        let before = taskOperationsCounter()
        let nanoseconds = clock()
        return (before + (taskOperationsCounter() - before) / 2, nanoseconds)
    }

    /// The nanoseconds of 2³² ticks. The first access takes half a millisecond if the ticks are those of a counter.
    package static let rate: UInt64 = {
        if !isCounter { return 1 << 32 }
        // In a schedule, the other clock shows virtual time, which does not change during the loop.
        let first = pair(of: taskOperationsRealNanoseconds)
        var last = first
        while last.nanoseconds - first.nanoseconds < 500_000 { last = pair(of: taskOperationsRealNanoseconds) }
        return UInt64(Double(last.nanoseconds - first.nanoseconds) / Double(last.ticks - first.ticks) * 4_294_967_296)
    }()
}
