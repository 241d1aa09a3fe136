internal import Foundation

/// The error of a system call.
public struct SystemCallError: Error, Hashable, Sendable {
    /// The name of the system call.
    public let function: String

    /// The error code, a value of `errno`.
    public let code: Int32

    init(_ function: String, code: Int32 = errno) {
        self.function = function
        self.code = code
    }
}

extension SystemCallError: CustomStringConvertible {
    public var description: String { "\(function) failed: \(String(cString: strerror(code))) (\(code))" }
}
