#if os(Linux)
    import Foundation
    import Testing

    @Suite("The tour as a process", .timeLimit(.minutes(1)))
    struct TourProcessTests {
        private let temporary: TemporaryFolder

        init() throws { temporary = try TemporaryFolder() }

        /// The program, which is built beside the tests.
        private static let program = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("tour")

        /// A program that runs, with files in place of its streams.
        private func start(_ arguments: String...) throws -> Process {
            let process = Process()
            process.executableURL = Self.program
            process.arguments = arguments
            for name in ["output", "errors"] { try temporary.write("", to: name) }
            process.standardOutput = FileHandle(forWritingAtPath: temporary / "output")
            process.standardError = FileHandle(forWritingAtPath: temporary / "errors")
            try process.run()
            return process
        }

        private func text(of name: String) throws -> String {
            try String(contentsOfFile: temporary / name, encoding: .utf8)
        }

        @Test("Ctrl-C in the middle of the work ends it with 130, a last line, and JSON all the same")
        func interruption() throws {
            // To digest these takes many minutes.
            for number in 0..<8 { try temporary.writeZeros(20_000_000_000, to: "input/\(number)") }
            let process = try start(temporary / "input", "--json", "--recipe", "width-limited-batch")
            while !isSignalHeld(by: process) { sched_yield() }
            kill(process.processIdentifier, SIGINT)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit)
            #expect(process.terminationStatus == 130)
            #expect(try text(of: "errors") == "tour: interrupted, 0 of 1 recipes done\n")
            #expect(try JSONSerialization.jsonObject(with: Data(text(of: "output").utf8)) as? [String] == [])
        }

        /// Whether the process has come so far that the signal does not just end it.
        private func isSignalHeld(by process: Process) -> Bool {
            let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            let mask = line.flatMap { UInt64($0.dropFirst("SigBlk:".count).trimmingPrefix("\t"), radix: 16) } ?? 0
            return mask & (1 << (SIGINT - 1)) != 0
        }

        @Test("Nothing but JSON is on standard output, and nothing at all on standard error")
        func json() throws {
            try temporary.write("text", to: "input/file")
            let process = try start(temporary / "input", "--json")
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try text(of: "errors") == "")
            let rows = try JSONSerialization.jsonObject(with: Data(text(of: "output").utf8)) as? [[String: Any]]
            #expect(rows?.count == 3)
        }
    }
#endif
