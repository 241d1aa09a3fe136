import Foundation
import SourceAudit

/// Work that survives the death of a worker: `swift run workers [FOLDER]`.
@main
enum Workers {
    static func main() {
        Termination.hold()
        let arguments = Array(CommandLine.arguments.dropFirst())
        Task.detached {
            do {
                try await run(arguments)
                exit(0)
            } catch {
                StandardStreams.writeError("\(error)\n")
                exit(1)
            }
        }
        Termination.serve()
    }

    private static func run(_ arguments: [String]) async throws {
        switch arguments.first {
        case "--help", "-h": try StandardStreams.writeOutput(usage)
        case "worker": try await WorkerProcess(Options(arguments.dropFirst())).run()
        case "compare": try await Comparison(Options(arguments.dropFirst())).run()
        case "journal": try JournalCommand(arguments.dropFirst()).run()
        case "offline": try await OfflineDemonstration(folder: arguments.dropFirst().first).run()
        case "sync": try await SyncProcess(Options(arguments.dropFirst())).run()
        case "load": try await LoadProcess(Options(arguments.dropFirst())).run()
        default: try await demonstrate(Work.all(inFolder: arguments.first))
        }
    }

    private static func demonstrate(_ work: [Work]) async throws {
        if let server = RedisServer.executables.first {
            try await Demonstration(work: work, server: server).run()
        } else {
            try StandardStreams.writeOutput(
                "There is no redis-server or valkey-server on the path. \(RedisServer.advice)\n"
                    + "This run uses an engine in memory instead.\n")
            try await MemoryDemonstration(work: work).run()
        }
    }

    private static let usage = """
        usage: workers [FOLDER]
               workers offline [FOLDER]
               workers journal FILE

        Puts 1,000 pictures to scale, or the files of FOLDER to hash, into a stream. Starts three workers with different
        widths and one shared rate, kills one of them while it works, and prints the number of deliveries of each.

        offline   Synchronizes edits from a journal in FOLDER: stops while there is no network, is killed, starts again,
                  and stops within 5 s at a shutdown.
        journal   Verifies the checksums of a journal, which is a directory or one of its files. Prints its deliveries
                  and dead letters.

        """
}

/// Arguments of the form `--name value`.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) {
        var iterator = arguments.makeIterator()
        while let name = iterator.next(), let value = iterator.next() { values[name] = value }
    }

    subscript(_ name: String) -> String? { values["--\(name)"] }

    /// The number with a name. A negative number is treated as 0.
    func number(_ name: String, or value: Int) -> Int { self[name].flatMap { Int($0) }.map { max(0, $0) } ?? value }
}
