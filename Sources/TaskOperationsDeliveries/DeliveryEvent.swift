/// A call of an engine.
public enum EngineCall: Hashable, Sendable {
    /// The call of `next()` of the sequence of deliveries.
    case pull
    /// `Delivery.acknowledge()`.
    case acknowledge
    /// `Delivery.reject(retryAfter:)`.
    case reject
    /// `Delivery.extendLease(by:)`.
    case extendLease
}

/// An event that a consumer of deliveries reports.
public enum DeliveryEvent<ID: Hashable & Sendable>: Sendable {
    /// The body has succeeded, and the engine has removed the payload.
    case acknowledged(ID)
    /// The operation or `onPoison` has failed, and the payload was returned to the engine.
    case rejected(ID, error: any Error, retryAfter: Duration)
    /// The operation was cancelled or the queue was shut down, and the payload was returned to the engine. A
    /// cancellation by a timeout is a failure instead, for which `rejected` is reported.
    case givenBack(ID)
    /// The delivery was poison. `onPoison` has returned, and the engine has removed the payload.
    case poisoned(ID, error: any Error)
    /// The lease has ended, and the engine delivers the payload again. A body that is still executing is cancelled, and
    /// keeps its permit until it ends.
    case leaseLost(ID)
    /// The queue has ended the operation "pull", which waits until the queue could start a delivery. For example, all
    /// operations of the queue were cancelled, or the queue was full and dropped the operation. The consumer adds the
    /// operation again after `retryAfter`.
    case pullPostponed(error: any Error, retryAfter: Duration)
    /// A call of the engine failed. The call is repeated after `retryAfter`. If `retryAfter` is nil, the call is not
    /// repeated. If an acknowledgement is not repeated, the engine delivers the payload again, although its body has
    /// succeeded.
    case engineFailed(EngineCall, ID?, error: any Error, retryAfter: Duration?)
}
