internal import TaskOperations
import TaskOperationsExtras

/// The time for which a worker may hold a delivery, and the rule for extensions.
///
/// A crashed worker does not extend its lease, so another worker gets the delivery after `duration`. A worker whose
/// body hangs must not extend its lease either. So `renewal` limits the extensions.
public struct DeliveryLease: Hashable, Sendable {
    /// The rule for extending the lease of an executing body. The lease of a delivery that waits to start is always
    /// extended.
    public enum Renewal: Hashable, Sendable {
        /// Never. The body has a single lease.
        case never
        /// Extend if the body has reported progress since the last extension; see `AnyTaskOperation.reportProgress`. A
        /// report that equals the previous report does not count.
        case whileProgressing
        /// Always extend, until the body has executed for a time.
        case upTo(Duration)
    }

    /// The time that the engine grants with a delivery, and that each extension requests; positive. It must equal the
    /// value in the engine's configuration.
    public var duration: Duration

    /// The rule for extensions.
    public var renewal: Renewal

    /// Creates a lease.
    public init(_ duration: Duration = .seconds(30), renewal: Renewal = .whileProgressing) {
        self.duration = duration
        self.renewal = renewal
    }
}

/// Decides when a lease is extended. Times are durations since a fixed moment.
struct LeaseState: Sendable {
    enum Step: Hashable {
        case sleep(until: Duration)
        /// Request an extension. Without an answer, the lease ends at `before`.
        case extend(before: Duration)
        case lose
    }

    private let lease: DeliveryLease
    /// The end of the lease, as far as this process knows.
    private(set) var end: Duration
    private(set) var nextLook: Duration
    /// The time at which the body started; nil before the start.
    private(set) var start: Duration?
    /// The body's last progress report at the time of the last extension.
    private var extendedAt: OperationProgress

    /// - Parameter progress: The progress of a body that has not reported any.
    init(_ lease: DeliveryLease, at now: Duration, progress: OperationProgress) {
        self.lease = lease
        extendedAt = progress
        end = now + lease.duration
        nextLook = now + lease.duration / 3
    }

    /// Records the start of the body.
    mutating func begin(at now: Duration) { start = start ?? now }

    /// Returns the next step of the task that extends the lease. The task checks three times during each lease.
    ///
    /// - Parameter progress: The last progress report of the body.
    mutating func step(at now: Duration, progress: OperationProgress) -> Step {
        if now >= end { return .lose }
        if now < nextLook { return .sleep(until: nextLook) }
        nextLook = min(end, now + lease.duration / 3)
        if !mayExtend(at: now, progress: progress) { return .sleep(until: nextLook) }
        extendedAt = progress
        return .extend(before: end)
    }

    private func mayExtend(at now: Duration, progress: OperationProgress) -> Bool {
        guard let start else { return true }
        switch lease.renewal {
        case .never: return false
        case .whileProgressing: return progress != extendedAt
        case .upTo(let limit): return now - start < limit
        }
    }

    /// Records that an extension requested at `time` was granted.
    mutating func wasExtended(at time: Duration) {
        end = time + lease.duration
        nextLook = time + lease.duration / 3
    }
}
