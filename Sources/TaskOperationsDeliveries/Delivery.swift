/// A unit of work that an engine has assigned to this process for a limited time. Examples of engines are Redis
/// streams, SQS and a table in Postgres.
///
/// The limited time is the *lease*. During the lease, the engine delivers the payload to no other worker. If the lease
/// ends without an answer, the engine delivers the payload again. So the body must tolerate repeated deliveries of the
/// same payload.
///
/// Adapters of drivers conform to this protocol. `TaskOperationQueue.consume` calls `acknowledge` in the task of the
/// body, which may be cancelled. If that call throws, `consume` repeats the call in another task. The task of
/// `extendLease` is cancelled when the operation of the delivery has ended. The tasks of all other calls are never
/// cancelled.
public protocol Delivery: Identifiable, Sendable where ID: Sendable {
    /// The type of the payload.
    associatedtype Payload: Sendable

    /// The payload, which describes the work.
    var payload: Payload { get }

    /// The number of times that the engine has delivered the payload, including this delivery.
    var attempt: Int { get }

    /// Removes the payload from the engine.
    ///
    /// - Throws: `DeliveryLeaseLost` if the engine knows that the lease has ended. After any other error, the outcome
    ///   is unknown, and the caller repeats the call.
    func acknowledge() async throws

    /// Returns the payload to the engine.
    ///
    /// - Parameter delay: The time after which the engine may deliver the payload again. Zero allows an immediate
    ///   delivery. `consume` passes at most 2⁴⁰ seconds, and no negative time.
    /// - Throws: The same errors as `acknowledge`.
    func reject(retryAfter delay: Duration) async throws

    /// Returns the payload to the engine after a failure. The default implementation calls `reject(retryAfter:)`.
    ///
    /// An engine that keeps dead letters counts this call as a failed attempt, and `reject(retryAfter:)` not.
    ///
    /// - Parameters:
    ///   - delay: The time after which the engine may deliver the payload again.
    ///   - error: The failure.
    /// - Throws: The same errors as `acknowledge`.
    func reject(retryAfter delay: Duration, because error: any Error) async throws

    /// Moves the end of the lease.
    ///
    /// - Parameter duration: The time from the call to the new end.
    /// - Throws: The same errors as `acknowledge`.
    func extendLease(by duration: Duration) async throws
}

extension Delivery {
    public func reject(retryAfter delay: Duration, because error: any Error) async throws {
        try await reject(retryAfter: delay)
    }
}

/// An error that occurs if the caller no longer holds a delivery. The lease has ended, or the delivery was settled.
///
/// If a lease is lost, the body is cancelled with this error as the `cancellationCause` of the operation. If the body
/// then throws `CancellationError`, its operation fails with this error instead.
public struct DeliveryLeaseLost: Error, Hashable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// The cause of the error, and its consequence.
    public var description: String {
        "The lease of the delivery has ended. The engine delivers its payload again, or has done so."
    }
}
