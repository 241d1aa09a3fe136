import Foundation

/// A file or a folder that could not be read, and the reason. `description` is one line for every name.
public struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path, with control characters and invalid bytes escaped.
    public let path: String
    /// Why it could not be read, as in "permission denied".
    public let reason: String

    init(_ path: PathBytes, _ reason: String) {
        self.path = path.shown
        self.reason = reason
    }

    /// A call of the system failed with an error number.
    init(_ path: PathBytes, errno code: CInt) {
        let message = String(cString: strerror(code))
        self.init(path, message.prefix(1).lowercased() + message.dropFirst())
    }

    public var description: String { "cannot read \(path): \(reason)" }
}
