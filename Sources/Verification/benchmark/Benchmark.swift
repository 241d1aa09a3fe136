import Foundation
import SourceAudit

@main
struct Benchmark {
    /// Runs the benchmark. The function is synchronous, so that the main thread can add operations, as in an
    /// application. A task drives the measurements, and the main thread performs the requests of that task until the
    /// end.
    static func main() {
        let arguments: Arguments
        do {
            arguments = try Arguments(CommandLine.arguments.dropFirst())
        } catch {
            complain("\(error)")
            exit(2)
        }
        do {
            switch arguments.action {
            case .help: try OutputFile.standardOutput.write(Arguments.usage + "\n")
            case .list: try OutputFile.standardOutput.write(Catalogue.listing + "\n")
            case .drawCapacity(let path): try OutputFile(at: path).write(CapacityChart.svg() + "\n")
            case .compare(let old, let new):
                let runs = PairedRuns(old: old, new: new, options: arguments.measuringOptions)
                try printLines(Judgement(runs.run(arguments.pairs ?? 10)).lines)
            case .run: run(arguments)
            }
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: Arguments) {
        #if DEBUG
            complain("this is a debug build, whose figures are meaningless; use: swift run -c release benchmark")
        #endif
        Task.detached {
            do {
                try await measure(arguments)
            } catch {
                complain("\(error)")
                exit(1)
            }
            mainThread.stop()
        }
        mainThread.serve()
    }

    private static func measure(_ arguments: Arguments) async throws {
        // Opens the files first, so that an error of writing is reported before any measurement.
        var json = try arguments.jsonPath.map { path throws in try JSONFile(at: path) }
        let chart = try arguments.chartPath.map { path throws in try OutputFile(at: path) }
        let printed = json?.isStandardOutput == true ? nil : report(arguments)

        try printLines(printed.map { [$0.head] })
        let figures = try await Runner(arguments).run(arguments.cases) { comparison in
            try json?.add(comparison)
            try printLines(printed?.lines(comparison))
        }
        try json?.finish()
        try printLines(printed?.foot(figures))
        try chart?.write(Chart.svg(figures) + "\n")
    }

    private static func report(_ arguments: Arguments) -> any Report {
        if arguments.isMarkdown { return Markdown(arguments.cases, subjects: arguments.subjects) }
        return Table(arguments.cases)
    }

    private static func printLines(_ lines: [String]?) throws {
        for line in lines ?? [] { try OutputFile.standardOutput.write(line + "\n") }
    }

    private static func complain(_ message: String) {
        StandardStreams.writeError("benchmark: \(message)\n")
    }
}
