/// A requirement of engines of deliveries. `EngineUnderTest.check` tests it.
public enum EngineRequirement: String, CaseIterable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// Each payload is delivered once, if it is acknowledged.
    case deliversOnce = "each payload is delivered once, if it is acknowledged"
    /// Two workers hold different payloads.
    case sharesPayloads = "two workers hold different payloads"
    /// No other worker receives a payload during a lease.
    case keepsLease = "no other worker receives a payload during a lease"
    /// A payload whose lease has ended is delivered again, with a higher attempt.
    case redelivers = "a payload whose lease has ended is delivered again, with a higher attempt"
    /// A worker that has lost its lease can change nothing.
    case refusesFormerHolder = "a worker that has lost its lease can change nothing"
    /// A second answer to one delivery throws `DeliveryLeaseLost`.
    case refusesSecondAnswer = "a second answer to one delivery throws DeliveryLeaseLost"
    /// An extended lease ends later.
    case extendsLease = "an extended lease ends later"
    /// A payload that was rejected without a delay is delivered at once.
    case returnsRejected = "a payload that was rejected without a delay is delivered at once"
    /// A payload that was rejected with a delay is delivered after it.
    case delaysRejected = "a payload that was rejected with a delay is delivered after it"
    /// A pull that waits ends with its task.
    case endsPull = "a pull that waits ends with its task"
    /// A pull that waits receives a payload that is added later.
    case wakesPull = "a pull that waits receives a payload that is added later"

    /// The requirement as a sentence.
    public var description: String { rawValue }
}

/// The error of an engine that does not meet a requirement.
public struct EngineRequirementFailure: Error, Hashable, CustomStringConvertible {
    /// The requirement.
    public let requirement: EngineRequirement
    /// The observation that contradicts it.
    public let observation: String

    /// The requirement and the observation.
    public var description: String { "\(requirement): \(observation)" }
}
