/// The options of a payload that is added to an engine.
public struct EnqueueOptions: Sendable {
    /// The identity of the request. While the engine has a payload with the identity, a second request with it adds
    /// nothing. If nil, each request adds a payload.
    public var identity: String?

    /// Whether the payload replaces the payload with the same identity. A payload that a worker holds is replaced after
    /// its attempt: it is not delivered again. If both have the same key, the new payload is not delivered before.
    public var replaces: Bool

    /// The key of the payload. Payloads with the same key are delivered one at a time, in the order in which they were
    /// added. A payload that waits for its next attempt keeps its place. If nil, the identity is the key. Payloads with
    /// neither have no order.
    public var key: String?

    /// The priority of the payload. Of payloads with different keys, the one with the higher priority is delivered
    /// first. A key has the highest priority of its payloads since it last had none.
    public var priority: TaskPriority

    /// The time before which the payload is not delivered, from the call.
    public var delay: Duration

    /// Creates options.
    ///
    /// - Parameters:
    ///   - identity: The identity of the request; nil if each request adds a payload.
    ///   - replaces: Whether the payload replaces the payload with the same identity.
    ///   - key: The key, within which payloads have an order; nil for the identity.
    ///   - priority: The priority among payloads with different keys.
    ///   - delay: The time before which the payload is not delivered, from the call.
    public init(
        identity: String? = nil, replaces: Bool = false, key: String? = nil, priority: TaskPriority = .medium,
        delay: Duration = .zero
    ) {
        self.identity = identity
        self.replaces = replaces
        self.key = key
        self.priority = priority
        self.delay = delay
    }

    /// The key, or the identity if there is no key. The two never match.
    var laneKey: String? { key.map { "k" + $0 } ?? identity.map { "i" + $0 } }
}
