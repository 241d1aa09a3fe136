public import Foundation

/// A started process. Only its owner waits for it.
public struct ChildProcess: Sendable {
    /// The system's number of it.
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

    /// Fetches the exit status, which the system keeps until then. Blocks until the process has exited.
    public func exitStatus() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return (status >> 8) & 0xff
    }
}
