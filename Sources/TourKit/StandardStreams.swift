import Foundation

/// Writing to standard output and standard error, without a buffer: nothing is lost where the process leaves at once.
package enum StandardStreams {
    /// Why a stream could not be written to.
    struct WriteError: Error, CustomStringConvertible {
        let code: CInt

        var description: String { "cannot write the output: \(String(cString: strerror(code)))" }
    }

    /// Writes to standard output.
    package static func writeOutput(_ text: String) throws {
        try write(text, to: STDOUT_FILENO)
    }

    /// Writes to standard error. If that fails, nobody is left to tell.
    static func writeError(_ text: String) {
        try? write(text, to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: CInt) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw WriteError(code: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
