import CommandOutput
import Foundation

/// Runs the tour in a task, and leaves the main thread to code that must run there.
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
            // Cancelled work may still run on other threads, and `exit` would destroy globals that it uses.
            _exit(code)
        }
        Interruption.watch {
            tour.cancel()
        } leave: {
            Console.standardError.report(tally.interruption)
            _exit(Interruption.exitCode)
        }
        // A run loop with nothing in it returns at once.
        RunLoop.main.add(Timer(timeInterval: .greatestFiniteMagnitude, repeats: true) { _ in }, forMode: .default)
        while true { RunLoop.main.run() }
    }
}
