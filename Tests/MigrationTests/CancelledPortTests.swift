#if os(Linux) || os(macOS)
    import MigrationExamplesSupport
    import TaskOperations
    import TaskOperationsTesting
    import TestSupport
    import Testing
    @testable import tour

    /// The test runs in a separate process, because it observes all queues.
    @Suite("Ports whose caller is cancelled", .inTurns, .prompt, .endsInTime)
    struct CancelledPortTests {
        /// Ports whose queues outlive a caller. The sources give the reasons. Also the port that starts its operations
        /// without a queue: its caller may be cancelled between its check and the start.
        private static let isShared: Set = [
            "main-queue", "blocking-callbacks", "image-downloader", "once", "starting-by-hand",
        ]

        @Test("A port whose caller is cancelled begins no further body, ends after all its operations, and throws")
        func cancelled() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                for number in 0..<60 {
                    let line = (0..<number).map { UInt8(ascii: "a") + UInt8($0 % 20) } + [10]
                    try folder.write((0..<number).flatMap { _ in line }, to: "file \(number)")
                }
                let input = RecipeInput(try InputFolder(listing: folder.path))
                var count = 0
                for recipe in Recipe.catalogue {
                    let whole = await BodyJournal.of(recipe, input)
                    if whole.startCount == 0 { continue }
                    count += 1
                    for start in Set([1, (whole.startCount + 1) / 2]) {
                        let journal = await BodyJournal.of(recipe, input, cancelledAt: start)
                        let isDone = journal.result == whole.result
                        #expect(isDone || journal.result == nil, "\(recipe.name), cancelled at start \(start)")
                        if CancelledPortTests.isShared.contains(recipe.name) { continue }
                        #expect(journal.laterStarts == 0, "\(recipe.name), cancelled at start \(start)")
                        #expect(journal.unfinished == [], "\(recipe.name), cancelled at start \(start)")
                    }
                }
                #expect(count > 50)
            }
        }
    }

    /// Counts the bodies that begin in a port, and cancels the caller of the port when one of them begins.
    private final class BodyJournal: TaskOperationObserver {
        private struct State: Sendable {
            var caller: Task<String?, Never>?
            var cancelledAt: ContinuousClock.Instant?
            /// The operations that had not started when the cancellation returned. A body that was chosen before may
            /// report its start later.
            var waiting: Set<ObjectIdentifier> = []
            var startCount = 0
            var laterStarts = 0
            var operations: [AnyTaskOperation] = []
            var unfinished: [String] = []
            var result: String?
        }

        private let cancellingStart: Int?
        private let state = Lock(State())

        private init(cancelledAt start: Int?) { cancellingStart = start }

        /// Runs a port.
        static func of(_ recipe: Recipe, _ input: RecipeInput, cancelledAt start: Int? = nil) async -> BodyJournal {
            let (journal, isKnown) = (BodyJournal(cancelledAt: start), Gate())
            let caller = Task {
                await isKnown.pass()
                return try? await recipe.ported(input).text
            }
            journal.state.withLock { $0.caller = caller }
            TaskOperationQueue.addObserver(journal)
            isKnown.open()
            let result = await caller.value
            let operations = journal.state.withLock { $0.operations }
            let unfinished = operations.filter { !$0.isFinished }.map(\.description)
            journal.state.withLock { ($0.unfinished, $0.result) = (unfinished, result) }
            // A body that begins too late begins now.
            _ = await eventually(within: .seconds(1)) { operations.allSatisfy(\.isFinished) }
            TaskOperationQueue.removeObserver(journal)
            return journal
        }

        var startCount: Int { state.withLock { $0.startCount } }
        /// The number of bodies that began after the cancellation had returned.
        var laterStarts: Int { state.withLock { $0.laterStarts } }
        /// The operations that had not finished when the port returned.
        var unfinished: [String] { state.withLock { $0.unfinished } }
        /// The result of the port, or nil if it threw an error.
        var result: String? { state.withLock { $0.result } }

        func operationChanged(_ event: TaskOperationEvent) {
            switch event.kind {
            case .added: add(event.operation, at: event.instant)
            case .started: start(event.operation)
            default: break
            }
        }

        private func add(_ operation: AnyTaskOperation, at instant: ContinuousClock.Instant) {
            state.withLock { state in
                state.operations.append(operation)
                if let end = state.cancelledAt, instant > end { state.waiting.insert(ObjectIdentifier(operation)) }
            }
        }

        private func start(_ operation: AnyTaskOperation) {
            let cancelled = state.withLock { state in
                state.startCount += 1
                if state.waiting.contains(ObjectIdentifier(operation)) { state.laterStarts += 1 }
                return state.startCount == cancellingStart ? state.caller : nil
            }
            guard let cancelled else { return }
            cancelled.cancel()
            let operations = state.withLock { state in
                state.cancelledAt = .now
                return state.operations
            }
            let waiting = operations.filter { !$0.isExecuting && !$0.isFinished }.map { ObjectIdentifier($0) }
            state.withLock { $0.waiting.formUnion(waiting) }
        }
    }
#endif
