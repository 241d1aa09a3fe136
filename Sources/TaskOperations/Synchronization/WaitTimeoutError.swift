/// A wait took longer than it was allowed to. What was waited for goes on.
public struct WaitTimeoutError: Error, Hashable, Sendable {
    /// What was waited for, in words.
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
