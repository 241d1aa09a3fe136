/// A wait that took longer than its limit. The awaited work continues, except the body of `withTimeLimit`, which has ended
/// when this error is thrown.
public struct WaitTimeoutError: Error, Hashable, Sendable {
    /// The description of the awaited object.
    public let awaited: String

    /// How long it was waited, in words.
    public let timeout: String

    package init(_ awaited: String, timeout: some DurationProtocol) {
        self.awaited = awaited
        self.timeout = "\(timeout)"
    }
}

extension WaitTimeoutError: CustomStringConvertible {
    public var description: String { "Waited \(timeout) for \(awaited), in vain." }
}
