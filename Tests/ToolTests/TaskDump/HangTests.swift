#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Each test runs programs of Sources/Verification/hangs in separate processes: see CommandOutputTests.
    @Suite("Programs that hang", .inTurns, .prompt, .endsInTime)
    struct HangTests {
        static let names = [
            "lostContinuation", "semaphore", "lock", "threadSleep", "readLine", "cycle", "actor", "group", "stream",
            "fullQueue", "width", "suspended", "limit", "key", "barrier", "asyncLet", "mainActor", "freed", "detached",
            "thousand", "lockOfThread", "twoLocks", "actorSleeps",
        ]

        @Test("The first three lines of a dump name the function and the line that hang")
        func culprits() async {
            await #expect(processExitsWith: .success) {
                for name in HangTests.names {
                    let (output, status) = try Program.run(name)
                    let lines = output.split(separator: "\n").drop { !$0.hasPrefix("Task dump") }.prefix(3)
                    let place = try Program.culprit(of: name)
                    #expect(lines.contains { $0.contains(place) }, "\(name): \(place) is not in\n\(output)")
                    #expect(status == 3, "\(name) ended with \(status)")
                }
            }
        }

        @Test("A mended program is not reported as a hang")
        func mended() async {
            await #expect(processExitsWith: .success) {
                for name in HangTests.names {
                    // The input has one line.
                    let (output, status) = try Program.run(name, "mended", name == "readLine" ? "" : "long")
                    #expect(status == 0, "\(name) ended with \(status):\n\(output)")
                }
            }
        }

        @Test("A dump names the task that an actor runs, even if the task sleeps in a call of the system")
        func sleepingActor() async {
            await #expect(processExitsWith: .success) {
                let (output, _) = try Program.run("actorSleeps")
                #expect(output.contains("waits for the actor hangs.Disk, on which task"), "\(output)")
            }
        }

        @Test("A watch reports a program that hangs once, and a program that computes, sleeps or continues never")
        func watch() async {
            await #expect(processExitsWith: .success) {
                let counts = [
                    "watched": 1, "watchedAgain": 1, "computes": 0, "sleeps": 0, "regular": 0, "children": 0,
                    "poolIsFull": 1, "poolComputes": 1,
                ]
                for (name, count) in counts {
                    let (output, status) = try Program.run(name)
                    #expect(status == 0)
                    #expect(output.ranges(of: "Task dump:").count == count, "\(name):\n\(output)")
                }
            }
        }

        @Test("A task of the runtime's own list is in a dump, even if it is older than the dump's list")
        func registered() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("registered")
                #expect(status == 0)
                #expect(output.contains("lostContinuation"), "\(output)")
            }
        }

        @Test("A task of the runtime's own list that ends during a dump is not in the dump")
        func endedInRegistry() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("endedInRegistry")
                #expect(status == 0)
                #expect(output.contains("Task dump:") && !output.contains("lostContinuation"), "\(output)")
            }
        }

        @Test("Dumps beside tasks that are created and end at full speed agree with a journal")
        func churn() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("churn", "10")
                #expect(status == 0, "\(output)")
            }
        }

        @Test("A signal of a child process by fork prints no dump")
        func fork() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("forked")
                #expect(status == 0)
                #expect(!output.contains("Task dump:"), "\(output)")
            }
        }

        @Test("A dump does not end another thread's wait with a limit of time")
        func timedWait() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("timedWait")
                #expect(status == 0)
                #expect(output.contains("The wait ended with its time."), "\(output)")
            }
        }

        @Test("A signal prints a dump, and the program continues")
        func signal() async {
            await #expect(processExitsWith: .success) {
                let (output, status) = try Program.run("signals")
                #expect(status == 0)
                #expect(output.ranges(of: "Task dump:").count == 3, "\(output)")
                #expect(output.contains("waitsForSignals"))
            }
        }
    }

    private enum Program {
        /// Runs a program, whose input never ends. Returns both outputs and the exit code.
        static func run(_ arguments: String...) throws -> (output: String, status: Int32) {
            let process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
                path: "hangs")
            process.arguments = arguments
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            try input.fileHandleForWriting.close()
            return (text, process.terminationStatus)
        }

        private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Verification/hangs").standardized

        /// The file and line with the comment `culprit` and a name.
        static func culprit(of name: String) throws -> String {
            for file in ["RuntimeHangs.swift", "OperationHangs.swift"] {
                let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                if let index = lines.firstIndex(where: { $0.hasSuffix("// culprit \(name)") }) {
                    return "(\(file):\(index + 1))"
                }
            }
            throw CocoaError(.fileReadUnknown)
        }
    }
#endif
