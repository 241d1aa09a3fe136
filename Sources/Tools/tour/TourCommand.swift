import Foundation
import MigrationExamplesSupport
import TaskOperationsDiagnosis

/// The command line of the tour, from its arguments to its exit code.
package struct TourCommand: Sendable {
    private let catalogue: [Recipe]
    private let console: Console
    private let tally: Tally
    private let output: @Sendable (String) throws -> Void

    /// - Parameters:
    ///   - tally: Counts the finished recipes.
    ///   - output: Writes to the standard output.
    package init(
        catalogue: [Recipe], console: Console, tally: Tally, output: @escaping @Sendable (String) throws -> Void
    ) {
        self.catalogue = catalogue
        self.console = console
        self.tally = tally
        self.output = output
    }

    /// Runs the command that the arguments select. Cancelling the task interrupts it.
    ///
    /// - Returns: The exit code.
    package func run(_ arguments: [String]) async -> Int32 {
        do {
            switch try Arguments(parsing: arguments, known: catalogue.map(\.name)) {
            case .help: try output(Arguments.usage + "\n")
            case .list: try output(catalogue.map { $0.name + "\n" }.joined())
            case .explain(let path): try output(Trace(contentsOf: path).explanation)
            case .watch(let path, let once, let html, let perfetto): try watch(path, once: once, html, perfetto)
            case .run(let folder, let names, let asJSON, let pictures):
                let recipes = names.isEmpty ? catalogue : catalogue.filter { names.contains($0.name) }
                let recording = try TourRecording(pictures)
                let code = try await run(recipes, over: folder, asJSON: asJSON)
                try recording.finish()
                return code
            }
            return 0
        } catch let error as UsageError {
            console.report("\(error)\n\(Arguments.usage)")
        } catch {
            console.report("\(error)")
        }
        return 2
    }

    private func watch(_ path: String, once: Bool, _ html: String?, _ perfetto: String?) throws {
        let trace = try Trace(contentsOf: path)
        try html.map { try trace.timelineHTML.write(toFile: $0, atomically: true, encoding: .utf8) }
        try perfetto.map { try trace.perfettoJSON.write(toFile: $0, atomically: true, encoding: .utf8) }
        if html != nil || perfetto != nil { return }
        if once || isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0 {
            return try output(WatchView().text(of: trace))
        }
        try WatchTerminal(path: path, output).run()
    }

    private func run(_ recipes: [Recipe], over path: String?, asJSON: Bool) async throws -> Int32 {
        try OpenFiles.allowNeeded()
        tally.choose(recipes.count)
        let path = try path ?? DefaultFolder.path()
        let comparisons = try await comparisons(of: recipes, over: path, asJSON: asJSON)
        if Task.isCancelled {
            console.report(tally.interruption)
            return Interruption.exitCode
        }
        return comparisons.allSatisfy(\.agree) ? 0 : 1
    }

    /// Runs the recipes and prints their results. Prints the results so far if the run is interrupted.
    private func comparisons(
        of recipes: [Recipe], over path: String, asJSON: Bool
    ) async throws -> [Comparison] {
        let progress = Progress(on: console)
        defer { progress.end() }
        progress.begin("listing the files")
        let folder: InputFolder
        do {
            folder = try InputFolder(listing: path)
        } catch is CancellationError {
            if asJSON { try output(JSONOutput.text(of: [])) }
            return []
        }
        let tour = Tour(recipes: recipes, console: console, tally: tally, progress: progress)
        let comparisons = await tour.run(over: folder)
        progress.end()
        try output(asJSON ? JSONOutput.text(of: comparisons) : Table(of: comparisons, over: folder).text)
        if !comparisons.allSatisfy(\.agree), folder.hasChanged {
            console.report("files changed during the tour, so the results of the sides may differ")
        }
        return comparisons
    }
}
