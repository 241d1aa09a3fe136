import Foundation

@main
struct Benchmark {
    /// Synchronous, so that the main thread is there to add operations from, as it is in an application: the
    /// driver is a task, and the main thread does what the driver asks of it until all is measured.
    static func main() {
        let arguments: Arguments
        do {
            arguments = try Arguments(CommandLine.arguments.dropFirst())
        } catch {
            complain("\(error)")
            exit(2)
        }
        switch arguments.action {
        case .help: print(Arguments.usage)
        case .list: print(Catalogue.listing)
        case .run: run(arguments)
        }
    }

    private static func run(_ arguments: Arguments) {
        #if DEBUG
            complain("this is a debug build, whose figures mean nothing: swift run -c release benchmark")
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
        let figures = try await Runner(arguments).run(arguments.cases)
        print(arguments.isMarkdown ? Markdown.page(figures) : Table.text(figures))
        if let path = arguments.jsonPath { try write(JSON.text(figures), to: path) }
        if let path = arguments.chartPath { try write(Chart.svg(figures), to: path) }
    }

    private static func write(_ text: String, to path: String) throws {
        try (text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data("benchmark: \(message)\n".utf8))
    }
}
