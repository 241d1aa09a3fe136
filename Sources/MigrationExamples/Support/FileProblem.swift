import Foundation

/// A file or a folder that could not be read, and the reason. `description` is a single line for every name.
public struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path, with control characters and invalid bytes escaped.
    public let path: String
    /// The reason, for example "permission denied".
    public let reason: String

    init(_ path: PathBytes, _ reason: String) {
        self.path = path.shown
        self.reason = reason
    }

    /// Creates a problem from the error number of a failed system call.
    init(_ path: PathBytes, errno code: CInt) {
        let message = String(cString: strerror(code))
        self.init(path, message.prefix(1).lowercased() + message.dropFirst())
    }

    public var description: String { "cannot read \(path): \(reason)" }
}
