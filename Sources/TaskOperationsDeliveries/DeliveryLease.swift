internal import TaskOperations
import TaskOperationsExtras

/// The time for which a worker may hold a delivery, and the rule for extensions.
///
/// A crashed worker does not extend its lease. So another worker receives the payload after `duration`. A worker whose
/// body hangs must not extend its lease either. So `renewal` limits the extensions. The body of a delivery that has lost
/// its lease is cancelled, and the engine delivers the payload again.
public struct DeliveryLease: Hashable, Sendable {
    /// The rule for extending the lease of an executing body. Before the body starts, the lease is always extended.
    public enum Renewal: Hashable, Sendable {
        /// Does not extend the lease while the body executes.
        case never
        /// Extends the lease if the progress of the body has changed since the last extension. See
        /// `AnyTaskOperation.reportProgress`.
        case whileProgressing
        /// Extends the lease until the body has executed for a time.
        case upTo(Duration)
    }

    /// The duration of a lease and of each extension. It must be positive, and must equal the value in the engine's
    /// configuration.
    public var duration: Duration

    /// The rule for extensions.
    public var renewal: Renewal

    /// Creates a lease.
    ///
    /// - Parameters:
    ///   - duration: The duration of the lease and of each extension; positive.
    ///   - renewal: The rule for extensions. By default, a body may execute for an hour.
    public init(_ duration: Duration = .seconds(30), renewal: Renewal = .upTo(.seconds(3_600))) {
        self.duration = duration
        self.renewal = renewal
    }
}

/// The state of a lease. It decides when the lease is extended. Times are durations since a fixed moment.
struct LeaseState: Sendable {
    enum Step: Hashable {
        case sleep(until: Duration)
        /// Request an extension. If the engine does not answer, the lease ends at `before`.
        case extend(before: Duration)
        case lose
    }

    private let lease: DeliveryLease
    /// The end of the lease, as far as this process knows.
    private(set) var end: Duration
    private(set) var nextLook: Duration
    /// The time at which the body started; nil before the start.
    private(set) var start: Duration?
    /// The progress of the body at the time of the last extension.
    private var extendedAt: OperationProgress

    /// - Parameter progress: The progress before the first report.
    init(_ lease: DeliveryLease, at now: Duration, progress: OperationProgress) {
        self.lease = DeliveryLease(lease.duration.saturated, renewal: lease.renewal)
        extendedAt = progress
        end = now + self.lease.duration
        nextLook = now + self.lease.duration / 3
    }

    mutating func begin(at now: Duration) { start = start ?? now }

    /// Returns the next step of the task that extends the lease. The task checks the lease three times per duration.
    ///
    /// - Parameter progress: The current progress of the body.
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

    /// Records that the engine has granted the extension that was requested at `time`.
    mutating func wasExtended(at time: Duration) {
        end = time + lease.duration
        nextLook = time + lease.duration / 3
    }
}
