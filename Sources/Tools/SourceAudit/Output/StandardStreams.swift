internal import Foundation

/// Standard output and standard error of a command. They have no buffer: nothing is lost if the process exits at once.
package enum StandardStreams {
    /// Writes to standard output.
    package static func writeOutput(_ text: String) throws(WriteError) {
        try write(text, to: STDOUT_FILENO, name: "standard output")
    }

    /// Writes to standard error. A failure cannot be reported anywhere.
    package static func writeError(_ text: String) {
        try? write(text, to: STDERR_FILENO, name: "standard error")
    }

    /// Writes all of a text to a file.
    ///
    /// - Parameter name: The name of the file in an error.
    package static func write(_ text: String, to descriptor: CInt, name: String) throws(WriteError) {
        _ = ignoreSignal
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw WriteError(name: name, code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Ignores the signal for a closed pipe, once: it would end the process before that can say why. Without it, the write
    /// fails.
    private static let ignoreSignal: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

/// The reason for which a file could not be written.
package struct WriteError: Error, CustomStringConvertible {
    private let name: String
    private let code: CInt

    /// - Parameter code: The value of `errno`.
    package init(name: String, code: CInt) {
        self.name = name
        self.code = code
    }

    package var description: String { "cannot write \(name): \(String(cString: strerror(code)))" }
}
