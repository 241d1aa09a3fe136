#if os(Linux) || os(macOS)
    import Foundation
    import MigrationExamplesSupport
    import TaskOperations
    import TaskOperationsDiagnosis
    import TaskOperationsTesting
    import TestSupport
    import Testing
    @testable import tour

    /// Each test runs in a separate process, because it observes all queues.
    @Suite("Traces of the recipes of the tour", .inTurns, .prompt, .endsInTime)
    struct RecipeTraceTests {
        @Test("they keep to the format, and have each start in the order in which an observer saw it")
        func recipes() async {
            await #expect(processExitsWith: .success) {
                let folder = try TraceFolder()
                let files = folder.url.appending(path: "input")
                try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
                for number in 0..<20 {
                    try Data(count: number * 1000).write(to: files.appending(path: "file \(number)"))
                }
                var operationCount = 0
                for recipe in Recipe.catalogue {
                    operationCount += try await RecipeTraceTests.check(recipe, files, folder["recording"])
                }
                #expect(operationCount > 500)
            }
        }

        /// Checks the trace of a recipe. Returns the number of operations in the trace.
        private static func check(_ recipe: Recipe, _ files: URL, _ path: String) async throws -> Int {
            let starts = StartJournal()
            let recorder = try FlightRecorder(writingTo: path, capacity: .max)
            TaskOperationQueue.addObserver(starts)
            _ = try await recipe.ported(RecipeInput(InputFolder(listing: files.path)))
            // Some recipes leave operations that never start.
            _ = await eventually(within: .seconds(1)) { starts.isDone }
            recorder.stop()
            TaskOperationQueue.removeObserver(starts)
            let trace = try Trace(contentsOf: path)
            #expect(trace.isComplete && trace.textFaults == [], "\(recipe.name)")
            let read = Dictionary(grouping: trace.operations, by: \.queue).values.map { $0.map { "\($0.number)" } }
            #expect(sorted(read) == sorted(starts.numbers), "\(recipe.name)")
            return trace.operations.count
        }

        private static func sorted(_ queues: [[String]]) -> [[String]] {
            queues.sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// Records the operations that started on each queue, in order.
    private final class StartJournal: TaskOperationObserver {
        private let queues = Lock<[QueueLabel: [String]]>([:])
        private let unfinished = Lock(0)

        var numbers: [[String]] { queues.withLock { Array($0.values) } }
        var isDone: Bool { unfinished.withLock { $0 == 0 } }

        func operationChanged(_ event: TaskOperationEvent) {
            switch event.kind {
            case .added: unfinished.withLock { $0 += 1 }
            case .finished, .withdrawn: unfinished.withLock { $0 -= 1 }
            case .started: queues.withLock { $0[event.queue, default: []].append("\(event.operationNumber)") }
            default: break
            }
        }
    }
#endif
