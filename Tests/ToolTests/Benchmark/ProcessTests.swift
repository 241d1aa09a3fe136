#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @testable import benchmark

    /// Each test runs in a separate process. A parent that waits for any child would spin while an exited child of
    /// another test has not been reaped.
    @Suite("Benchmark: the process", .inTurns, .prompt, .endsInTime)
    struct ProcessTests {
        @Test("A full standard output is an error for every kind of output")
        func fullOutput() async {
            await #expect(processExitsWith: .success) {
                for arguments in [
                    ["--list"], ["--help"], BenchmarkProcess.short, BenchmarkProcess.short + ["--markdown"],
                ] {
                    let result = try BenchmarkProcess.run(arguments, output: "/dev/full")
                    #expect(result.status == 1)
                    #expect(result.errors.contains("cannot write standard output: No space left on device\n"))
                }
            }
        }

        @Test("A file that cannot be written is an error before anything is measured")
        func fullFiles() async {
            await #expect(processExitsWith: .success) {
                for option in ["--json", "--chart"] {
                    let result = try BenchmarkProcess.run(
                        ["--case", "growth", option, "/missing/file"], output: "/dev/null")
                    #expect(result.status == 1)
                    #expect(result.errors.contains("cannot write /missing/file"))
                    #expect(!result.errors.contains("[1/"))
                }
                let result = try BenchmarkProcess.run(
                    BenchmarkProcess.short + ["--json", "/dev/full"], output: "/dev/null")
                #expect(result.status == 1)
                #expect(result.errors.contains("cannot write /dev/full: No space left on device\n"))
            }
        }

        @Test("Each case is a line of progress where there is no terminal, and its figures are on standard output")
        func progress() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder()
                let result = try BenchmarkProcess.run(BenchmarkProcess.short, output: folder / "output")
                #expect(result.status == 0)
                let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("[") }
                #expect(
                    lines == [
                        "[1/3] latency, median, 20 operations", "[2/3] latency, 99th percentile, 20 operations",
                        "[3/3] latency, 99.9th percentile, 200 operations",
                    ])
                let table = try folder.text(of: "output").split(separator: "\n")
                #expect(table.count { $0.hasPrefix("latency, median  ") } == 4)
                #expect(table.count { $0.hasPrefix("latency, 99th percentile  ") } == 4)
                #expect(table.count { $0.hasPrefix("latency, 99.9th percentile  ") } == 4)
            }
        }

        @Test("JSON replaces the table on standard output, under each of its names")
        func jsonOnStandardOutput() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder()
                try FileManager.default.createSymbolicLink(
                    atPath: folder / "link", withDestinationPath: "/dev/stdout")
                for path in ["/dev/stdout", "/proc/self/fd/1", folder / "link", folder / "output"] {
                    let result = try BenchmarkProcess.run(
                        BenchmarkProcess.short + ["--json", path], output: folder / "output")
                    #expect(result.status == 0)
                    let rows = try JSONSerialization.jsonObject(with: Data(folder.text(of: "output").utf8)) as? [Any]
                    #expect(rows?.count == 12, "\(path)")
                }
            }
        }

        @Test("Two runs of one program are compared, and a program that cannot be compared is named in the error")
        func comparison() async {
            await #expect(processExitsWith: .success) {
                let folder = try Folder()
                let short = BenchmarkProcess.short + ["--subject", "Task", "--pairs", "6"]
                let program = BenchmarkProcess.path
                let result = try BenchmarkProcess.run(
                    ["--compare", program, program] + short, output: folder / "output")
                #expect(result.status == 0)
                let rows = try folder.text(of: "output").split(separator: "\n").filter { $0.hasPrefix("latency, ") }
                #expect(rows.count == Catalogue.cases.count { $0.name == "latency" })
                #expect(result.errors.split(separator: "\n").last == "[6/6] pair of runs")
                for (path, reason) in [
                    ("/missing/program", "cannot run /missing/program: there is no such file\n"),
                    ("/dev", "cannot run /dev: it is not an executable file\n"),
                    ("/bin/false", "/bin/false failed with status 1: no message\n"),
                    ("/bin/true", "/bin/true wrote no figures; it must be an executable of this benchmark\n"),
                ] {
                    let result = try BenchmarkProcess.run(["--compare", path, program] + short, output: "/dev/null")
                    #expect(result.status == 1)
                    #expect(result.errors.hasPrefix("[1/6] pair of runs\nbenchmark: \(reason)"))
                }
            }
        }

        @Test("A C++ library is left out with one line if there is no compiler, and otherwise measured or left out")
        func libraries() async {
            await #expect(processExitsWith: .success) {
                let arguments = [
                    "--case", "fib,nqueens", "--subject", "Taskflow,oneTBB", "--scale", "0.01", "--rounds", "1",
                ]
                let folder = try Folder()
                let none = try BenchmarkProcess.run(arguments, output: "/dev/null", path: "/missing")
                #expect(none.status == 0)
                #expect(none.errors.matches(of: /benchmark: Taskflow is left out: .*c\+\+.*\n/).count == 1)
                #expect(none.errors.matches(of: /benchmark: oneTBB is left out: .*c\+\+.*\n/).count == 1)

                let result = try BenchmarkProcess.run(arguments, output: folder / "output")
                #expect(result.status == 0)
                let table = try folder.text(of: "output")
                for library in ["Taskflow", "oneTBB"] {
                    let measured = table.split(separator: "\n").count { $0.contains(" \(library) ") }
                    #expect(measured == (result.errors.contains("\(library) is left out: ") ? 0 : 2))
                }
            }
        }
    }

    /// The program that is built with the tests.
    private enum BenchmarkProcess {
        static let short = ["--case", "latency", "--scale", "0.02", "--rounds", "1"]

        static var path: String {
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "benchmark").path
        }

        /// Runs the program to its end.
        ///
        /// - Parameters:
        ///   - output: The file that receives the standard output.
        ///   - path: The `PATH` of the program; nil for that of this process.
        static func run(
            _ arguments: [String], output: String, path searchPath: String? = nil
        ) throws -> (status: CInt, errors: String) {
            let folder = try Folder()
            let process = Process()
            process.executableURL = URL(filePath: path)
            process.arguments = arguments
            if let searchPath { process.environment = ["PATH": searchPath] }
            process.standardOutput = try file(output)
            process.standardError = try file(folder / "errors")
            try process.run()
            process.waitUntilExit()
            return (process.terminationStatus, try folder.text(of: "errors"))
        }

        private static func file(_ path: String) throws -> FileHandle {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            try #require(descriptor >= 0)
            return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
    }
#endif
