import Foundation
import SourceAudit

/// Runs the tour in a task, so that code that needs the main thread can use it.
@main
enum TourProgram {
    static func main() {
        Interruption.hold()
        let tally = Tally(of: Recipe.catalogue.count)
        let command = TourCommand(
            catalogue: Recipe.catalogue, console: .standardError, tally: tally,
            output: { try StandardStreams.writeOutput($0) })
        let tour = Task.detached {
            let code = await command.run(Array(CommandLine.arguments.dropFirst()))
            // Cancelled work may still run on other threads. `exit` would destroy globals that this work uses.
            _exit(code)
        }
        Interruption.watch {
            tour.cancel()
        } leave: {
            Console.standardError.report(tally.interruption)
            _exit(Interruption.exitCode)
        }
        // A run loop without sources and timers returns at once.
        RunLoop.main.add(Timer(timeInterval: .greatestFiniteMagnitude, repeats: true) { _ in }, forMode: .default)
        while true { RunLoop.main.run() }
    }
}
