import Foundation
import TourKit

/// Starts the tour in a task, and leaves the main thread to what wants to run there.
@main
enum Tour {
    static func main() {
        Interruption.hold()
        let tally = Tally(of: Recipe.catalogue.count)
        let command = TourCommand(catalogue: Recipe.catalogue, console: .standardError, tally: tally) { text in
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
        let tour = Task.detached {
            exit(await command.run(Array(CommandLine.arguments.dropFirst())))
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
