/// A unit of work that an engine (Redis streams, SQS, a table in Postgres) has assigned to this process for a limited
/// time.
///
/// This time is the *lease*. During the lease, the engine delivers the payload to no other worker. When the lease ends
/// without an answer, the engine delivers the payload again. So a payload may be delivered more than once, and its body
/// must tolerate that.
///
/// Adapters of drivers conform to this protocol. `TaskOperationQueue.consume` first calls `acknowledge` in the task of the
/// body, which may be cancelled, and again in another task if that call throws. The task of `extendLease` is cancelled when
/// the delivery has been settled. All other calls are made in tasks that are never cancelled.
public protocol Delivery: Identifiable, Sendable where ID: Sendable {
    /// The type of the payload.
    associatedtype Payload: Sendable

    /// The payload: a description of the work.
    var payload: Payload { get }

    /// The number of this delivery among the deliveries of its payload, from 1.
    var attempt: Int { get }

    /// Removes the payload from the engine.
    ///
    /// - Throws: `DeliveryLeaseLost` if the lease has ended and the engine knows that. After any other error the
    ///   outcome is unknown, and the call is repeated.
    func acknowledge() async throws

    /// Returns the payload to the engine.
    ///
    /// - Parameter delay: The time until the engine may deliver the payload again; zero for at once.
    /// - Throws: As `acknowledge`.
    func reject(retryAfter delay: Duration) async throws

    /// Moves the end of the lease.
    ///
    /// - Parameter duration: The time from now to the new end.
    /// - Throws: As `acknowledge`.
    func extendLease(by duration: Duration) async throws
}

/// The engine no longer considers the caller the holder of a delivery: the lease has ended, or the delivery was settled.
///
/// A body whose lease is lost is cancelled, and finds this error in `AnyTaskOperation.current?.cancellationCause`. If the
/// body throws `CancellationError`, its operation fails with this error instead.
public struct DeliveryLeaseLost: Error, Hashable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// The cause of the error, and its consequence.
    public var description: String {
        "The lease of the delivery has ended. The engine delivers its payload again, or has done so."
    }
}
