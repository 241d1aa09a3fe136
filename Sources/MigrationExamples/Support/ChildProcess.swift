public import Foundation

/// A started process. Only its owner may wait for it.
public struct ChildProcess: Sendable {
    /// The process identifier.
    public let identifier: pid_t

    /// Starts a shell with a script.
    ///
    /// - Throws: `POSIXError` if the system cannot start it.
    public init(shell script: String) throws {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
        defer { for argument in arguments { free(argument) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var child = pid_t()
        let code = posix_spawn(&child, "/bin/sh", nil, nil, &arguments, &environment)
        if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        identifier = child
    }

    /// Waits until the process has exited, and returns its exit status. Blocks the calling thread. The system keeps the
    /// status until this call.
    public func exitStatus() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return (status >> 8) & 0xff
    }
}
