/// The error of a wait that took longer than its time limit. The awaited work continues. One exception is
/// `withTimeLimit`, whose body has ended when it throws this error.
public struct WaitTimeoutError: Error, Hashable, Sendable {
    /// The description of the awaited object.
    public let awaited: String

    /// The time limit of the wait, in words.
    public let timeout: String

    package init(_ awaited: String, timeout: some DurationProtocol) {
        self.awaited = awaited
        self.timeout = "\(timeout)"
    }
}

extension WaitTimeoutError: CustomStringConvertible {
    public var description: String { "Timed out after \(timeout) waiting for \(awaited)." }
}
