#if os(Linux)
    import Foundation
    import MigrationExamplesSupport
    import TaskOperationsDiagnosis
    import TestSupport
    import Testing
    @testable import tour

    /// Each test runs in a separate process. Two child processes at once would keep each other's pipes open. A parent
    /// that waits for any child would spin while an exited child of another test has not been reaped.
    @Suite("The tour as a process", .inTurns, .prompt, .endsInTime)
    struct TourProcessTests {
        @Test("Ctrl-C in the middle of the work ends it with 130, a last line, and JSON all the same")
        func interruption() async {
            await #expect(processExitsWith: .success) {
                let temporary = try TemporaryFolder()
                // Digesting these files takes many minutes.
                for number in 0..<8 { try temporary.writeZeros(20_000_000_000, to: "input/\(number)") }
                let tour = try TourProcess(
                    [temporary / "input", "--json", "--recipe", "width-limited-batch"], outputIn: temporary)
                while !tour.holdsInterrupt { sched_yield() }
                kill(tour.process.processIdentifier, SIGINT)
                tour.process.waitUntilExit()
                #expect(tour.process.terminationReason == .exit)
                #expect(tour.process.terminationStatus == 130)
                #expect(try tour.errors() == "tour: interrupted, 0 of 1 recipes done\n")
                #expect(try JSONSerialization.jsonObject(with: Data(tour.output().utf8)) as? [String] == [])
            }
        }

        @Test("Nothing but JSON is on standard output, and nothing at all on standard error")
        func json() async {
            await #expect(processExitsWith: .success) {
                let temporary = try TemporaryFolder()
                try temporary.write("text", to: "input/file")
                let tour = try TourProcess([temporary / "input", "--json"], outputIn: temporary)
                tour.process.waitUntilExit()
                #expect(tour.process.terminationStatus == 0)
                #expect(try tour.errors() == "")
                let rows = try JSONSerialization.jsonObject(with: Data(tour.output().utf8)) as? [[String: Any]]
                #expect(rows?.count == Recipe.catalogue.count)
            }
        }
    }

    extension TourProcessTests {
        @Test("All recipes can be recorded, drawn and explained")
        func pictures() async {
            await #expect(processExitsWith: .success) {
                let temporary = try TemporaryFolder()
                try temporary.write("text", to: "input/file")
                let (trace, picture) = (temporary / "tour.trace", temporary / "timeline.svg")
                let tour = try TourProcess(
                    [temporary / "input", "--trace", trace, "--timeline", picture], outputIn: temporary)
                tour.process.waitUntilExit()
                #expect(tour.process.terminationStatus == 0)
                #expect(try tour.errors() == "")
                let read = try Trace(contentsOf: trace)
                #expect(read.isComplete && read.operations.count > 100)
                #expect(try String(contentsOfFile: picture, encoding: .utf8).hasSuffix("</svg>\n"))
                let explanation = try TourProcess(["explain", trace], outputIn: temporary)
                explanation.process.waitUntilExit()
                #expect(try explanation.output().hasPrefix("\(read.operations.count) operations in "))
                let refusal = try TourProcess(["explain", picture], outputIn: temporary)
                refusal.process.waitUntilExit()
                #expect(refusal.process.terminationStatus == 2)
                #expect(try refusal.errors().contains("timeline.svg: is no recording of a FlightRecorder."))
                let (page, json) = (temporary / "timeline.html", temporary / "timeline.json")
                let watch = try TourProcess(
                    ["watch", trace, "--html", page, "--perfetto", json], outputIn: temporary)
                watch.process.waitUntilExit()
                #expect(watch.process.terminationStatus == 0)
                #expect(try String(contentsOfFile: page, encoding: .utf8).hasSuffix("</html>\n"))
                let events = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: json)))
                #expect((events as? [[String: Any]] ?? []).count > read.operations.count)
                let once = try TourProcess(["watch", trace, "--once"], outputIn: temporary)
                once.process.waitUntilExit()
                #expect(try once.output().hasPrefix("recorded for "))
            }
        }

        @Test("With too few open files allowed, the tour says so instead of running for ever")
        func tooFewFiles() async {
            await #expect(processExitsWith: .success) {
                let temporary = try TemporaryFolder()
                try temporary.write("text", to: "input/file")
                let tour = try TourProcess([temporary / "input"], outputIn: temporary, openFiles: 20)
                tour.process.waitUntilExit()
                #expect(tour.process.terminationStatus == 2)
                #expect(try tour.errors().contains("the limit of open files is 20"))
            }
        }
    }

    /// The program that is built with the tests. Files replace its standard streams.
    private struct TourProcess {
        let process = Process()
        private let folder: TemporaryFolder

        init(_ arguments: [String], outputIn folder: TemporaryFolder, openFiles: Int = 1024) throws {
            self.folder = folder
            let tour = URL(fileURLWithPath: CommandLine.arguments[0])
                .deletingLastPathComponent().appendingPathComponent("tour")
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "ulimit -n \(openFiles); exec \"$0\" \"$@\"", tour.path] + arguments
            for name in ["output", "errors"] { try folder.write("", to: name) }
            process.standardOutput = FileHandle(forWritingAtPath: folder / "output")
            process.standardError = FileHandle(forWritingAtPath: folder / "errors")
            try process.run()
        }

        func output() throws -> String { try String(contentsOfFile: folder / "output", encoding: .utf8) }

        func errors() throws -> String { try String(contentsOfFile: folder / "errors", encoding: .utf8) }

        /// Whether the process handles Ctrl-C by now instead of being ended by it.
        var holdsInterrupt: Bool {
            let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            let mask = line.flatMap { UInt64($0.dropFirst("SigBlk:".count).trimmingPrefix("\t"), radix: 16) } ?? 0
            return mask & (1 << (SIGINT - 1)) != 0
        }
    }
#endif
