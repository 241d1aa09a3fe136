/// A unit of work that an engine, such as Redis streams, SQS or a table in Postgres, has assigned to this process for a
/// limited time.
///
/// This time is the *lease*. During the lease, the engine delivers the payload to no other worker. If the lease ends
/// without an answer, the engine delivers the payload again. So the body must tolerate repeated deliveries of the same
/// payload.
///
/// Adapters of drivers conform to this protocol. `TaskOperationQueue.consume` calls `acknowledge` in the task of the
/// body, which may be cancelled. If that call throws, `consume` repeats it in another task. The task of `extendLease`
/// is cancelled when the delivery has been settled. The tasks of all other calls are never cancelled.
public protocol Delivery: Identifiable, Sendable where ID: Sendable {
    /// The type of the payload.
    associatedtype Payload: Sendable

    /// The payload: a description of the work.
    var payload: Payload { get }

    /// The number of this delivery among the deliveries of its payload, from 1.
    var attempt: Int { get }

    /// Removes the payload from the engine.
    ///
    /// - Throws: `DeliveryLeaseLost` if the engine knows that the lease has ended. After any other error the outcome
    ///   is unknown, and the caller repeats the call.
    func acknowledge() async throws

    /// Returns the payload to the engine.
    ///
    /// - Parameter delay: The time until the engine may deliver the payload again; zero for an immediate delivery.
    /// - Throws: The same errors as `acknowledge`.
    func reject(retryAfter delay: Duration) async throws

    /// Moves the end of the lease.
    ///
    /// - Parameter duration: The time from now to the new end.
    /// - Throws: The same errors as `acknowledge`.
    func extendLease(by duration: Duration) async throws
}

/// The engine no longer regards the caller as the holder of a delivery: the lease has ended, or the delivery was
/// settled.
///
/// If a lease is lost, the body is cancelled, and this error is the `cancellationCause` of `AnyTaskOperation.current`.
/// If the body throws `CancellationError`, its operation fails with this error instead.
public struct DeliveryLeaseLost: Error, Hashable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// The cause of the error, and its consequence.
    public var description: String {
        "The lease of the delivery has ended. The engine delivers its payload again, or has done so."
    }
}
