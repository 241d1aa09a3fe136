#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Each test runs in a separate process. A parent that waits for any child would spin while an exited child of
    /// another test has not been reaped.
    @Suite("Each command: output that cannot be written", .inTurns, .prompt, .endsInTime)
    struct CommandOutputTests {
        @Test("A full device is an error with a message and an exit code")
        func full() async {
            await #expect(processExitsWith: .success) {
                for command in Command.all {
                    let result = try command.run(output: Command.file("/dev/full"))
                    result.expectError("cannot write standard output: No space left on device\n")
                }
            }
        }

        @Test("A closed pipe is an error with a message and an exit code")
        func closed() async {
            await #expect(processExitsWith: .success) {
                for command in Command.all {
                    let result = try command.run(output: Command.closedPipe())
                    result.expectError("cannot write standard output: Broken pipe\n")
                }
            }
        }

        @Test("if the message cannot be written either, the exit code is the same")
        func noMessage() async {
            await #expect(processExitsWith: .success) {
                for command in Command.all {
                    for errors in [try Command.file("/dev/full"), try Command.closedPipe()] {
                        try command.run(output: Command.closedPipe(), errors: errors).expectError(nil)
                    }
                }
            }
        }

        @Test("a file that cannot be read is an error with a message too")
        func missing() async {
            await #expect(processExitsWith: .success) {
                for options in [[], ["--audit"]] {
                    let command = Command(name: "fuzz", arguments: options + ["/missing/file"], status: 1)
                    try command.run(output: Command.file("/dev/null")).expectError("/missing/file")
                }
            }
        }
    }

    /// A program that is built with the tests.
    private struct Command {
        let name: String
        let arguments: [String]
        /// The program's exit code after an error.
        let status: CInt

        private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../TaskOperationsTests/Simulation/Corpus/39").standardized.path

        static let all = [
            Command(name: "audit", arguments: ["--help"], status: 3),
            Command(name: "audit", arguments: ["--no-index", "--json", #filePath], status: 3),
            Command(name: "audit", arguments: ["--no-index", "--sarif", #filePath], status: 3),
            Command(name: "audit", arguments: ["--no-index", #filePath], status: 3),
            Command(name: "benchmark", arguments: ["--list"], status: 1),
            Command(name: "fuzz", arguments: [corpus], status: 1),
            Command(name: "fuzz", arguments: ["--audit", #filePath], status: 1),
            Command(name: "tour", arguments: ["--list"], status: 2),
        ]

        struct Result {
            let command: Command
            let reason: Process.TerminationReason
            let status: CInt
            let errors: String

            func expectError(_ text: String?) {
                let call = "\(command.name) \(command.arguments)"
                #expect(reason == .exit, "\(call)")
                #expect(status == command.status, "\(call)")
                if let text { #expect(errors.contains(text), "\(call)") }
            }
        }

        /// Runs the program to its end.
        ///
        /// - Parameter errors: The file that receives the standard error output; nil to return it as text.
        func run(output: FileHandle, errors: FileHandle? = nil) throws -> Result {
            let path = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
                .deletingLastPathComponent().appendingPathComponent(name)
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = try errors ?? Self.file(path)
            try process.run()
            process.waitUntilExit()
            return Result(
                command: self, reason: process.terminationReason, status: process.terminationStatus,
                errors: (try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
        }

        static func file(_ path: String) throws -> FileHandle {
            let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
            try #require(descriptor >= 0)
            return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }

        static func closedPipe() throws -> FileHandle {
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            close(ends[0])
            return FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        }
    }
#endif
