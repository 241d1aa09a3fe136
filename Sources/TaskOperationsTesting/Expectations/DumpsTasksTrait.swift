#if canImport(Testing)
    internal import CTaskDump
    internal import TaskDump
    internal import TaskOperations
    internal import TaskOperationsDiagnosis
    public import Testing

    /// Records a task dump as an issue of a test that has not ended in time.
    ///
    /// ```swift
    /// @Suite(.dumpsTasks(after: .seconds(60)))
    /// struct UploadTests {
    /// ```
    ///
    /// The issue names the tasks and threads for which the test waits. The attachment `task-dump.txt` has all tasks of the
    /// process. The test continues. A test with a shorter `timeLimit` receives its dump shortly before that limit, as a
    /// warning: the test may still end in time.
    ///
    /// The environment variable `TASK_DUMP_AFTER`, with a number of seconds, does the same for all tests of a process that
    /// contains TaskOperationsTesting, without a trait.
    public struct DumpsTasksTrait: TestTrait, SuiteTrait, TestScoping {
        /// The time after which a test that has not ended receives a dump.
        public let duration: Duration

        /// Creates a trait.
        ///
        /// - Parameter duration: The time. The test continues after the dump.
        public init(duration: Duration) { self.duration = duration }

        /// A suite that has the trait passes it on to its tests.
        public var isRecursive: Bool { true }

        /// Watches a test. Testing calls this.
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            if testCase == nil { return try await function() }
            let duration = test.traits.lazy.compactMap { ($0 as? Self)?.duration }.last ?? duration
            let watched = TestWatch.shared.add(test, duration, task: nil)
            defer { TestWatch.shared.remove(watched) }
            try await function()
        }
    }

    extension Trait where Self == DumpsTasksTrait {
        /// Records a task dump as an issue of each test that has not ended after a time.
        ///
        /// - Parameter duration: The time. The test continues after the dump.
        public static func dumpsTasks(after duration: Duration) -> Self { Self(duration: duration) }
    }

    /// Called for the tasks that Testing creates, if `TASK_DUMP_AFTER` is set: see CTaskDump.c.
    @_cdecl("taskDumpTestCreatesTask")
    func taskDumpTestCreatesTask(_ task: UInt64, _ seconds: Double) {
        guard let test = Test.current, !test.isSuite else { return }
        TestWatch.shared.add(test, .seconds(seconds), task: task)
    }

    /// Takes dumps for tests, on a thread of its own: all threads of the pool may be blocked.
    private final class TestWatch: TaskExecutor {
        /// A test that has not ended.
        struct Entry: Sendable {
            let test: Test
            let deadline: ContinuousClock.Instant
            let duration: Duration
            /// Whether the dump precedes a time limit of the test, which has not been exceeded.
            let isWarning: Bool
            /// The number of the task that runs the test.
            let task: UInt64
            /// Whether the watch ends when that task has ended.
            let endsWithTask: Bool
            /// The task that records the dump, which waits for it. It inherits the current test.
            var recorder: CheckedContinuation<TaskDump?, Never>?
        }

        private struct State: Sendable {
            var entries: [Int: Entry] = [:]
            var lastEntry = 0
            /// No entry is due before.
            var nextDeadline = ContinuousClock.Instant.now + .seconds(1_000_000_000)
            var jobs: [UnownedJob] = []
            var hasThread = false
            /// The tests that have a dump.
            var reported: Set<Test.ID> = []
        }

        static let shared = TestWatch()
        private let state = Lock(State())
        /// The name of the tasks of the watch.
        private static let recorderName = "task dump of a test"

        /// - Parameter task: The task that Testing has created for the test; nil if the caller runs the test.
        @discardableResult
        func add(_ test: Test, _ duration: Duration, task: UInt64?) -> Int {
            TaskDump.begin()
            let limit = test.timeLimit.map { $0 - min($0 / 10, .seconds(5)) }
            let isWarning = limit.map { $0 < duration } ?? false
            let duration = isWarning ? limit! : min(duration, .seconds(1_000_000_000))
            let entry = Entry(
                test: test, deadline: .now + duration, duration: duration, isWarning: isWarning,
                task: task ?? taskDumpCurrentTask(), endsWithTask: task != nil)
            let (number, isFirst) = state.withLock { state in
                state.lastEntry += 1
                state.entries[state.lastEntry] = entry
                state.nextDeadline = min(state.nextDeadline, entry.deadline)
                defer { state.hasThread = true }
                return (state.lastEntry, !state.hasThread)
            }
            if isFirst { startThread { self.run() } }
            Task(name: Self.recorderName, executorPreference: self) { await self.record(number) }
            return number
        }

        func remove(_ number: Int) {
            let entry = state.withLock { $0.entries.removeValue(forKey: number) }
            entry?.recorder?.resume(returning: nil)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            state.withLock { $0.jobs.append(job) }
        }

        /// Waits for the dump of a test, and records it.
        private func record(_ number: Int) async {
            let dump = await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.entries[number]?.recorder = continuation
                    return state.entries[number] == nil
                }
                if isOver { continuation.resume(returning: nil) }
            }
            guard let dump, let entry = state.withLock({ $0.entries.removeValue(forKey: number) }) else { return }
            let isFirst = state.withLock { $0.reported.insert(entry.test.id).inserted }
            guard isFirst else { return }
            let text = "The test has not ended after \(entry.duration).\n\(dump.causes(of: entry.task))"
            if !entry.isWarning {
                Issue.record(Comment(rawValue: text), sourceLocation: entry.test.sourceLocation)
            } else {
                #if compiler(>=6.3)
                    Issue.record(
                        Comment(rawValue: text), severity: .warning, sourceLocation: entry.test.sourceLocation)
                #endif
            }
            let name = entry.test.displayName ?? entry.test.name
            Attachment.record("\(name): \(text)\n\n\(dump.fullDescription)", named: "task-dump.txt")
        }

        // MARK: The thread

        private func run() {
            var (nextLook, looks) = (ContinuousClock.now, 0)
            while true {
                let jobs = state.withLock { state in
                    defer { state.jobs = [] }
                    return state.jobs
                }
                for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
                if ContinuousClock.now >= nextLook {
                    dumpIfDue()
                    if looks % 100 == 0 { endRecorders() }
                    looks += 1
                    nextLook = .now + .milliseconds(100)
                }
                if jobs.isEmpty { taskDumpSleep(20_000_000) }
            }
        }

        private func dumpIfDue() {
            let now = ContinuousClock.now
            let due = state.withLock { state -> [Int: Entry] in
                // A look at thousands of tests takes milliseconds.
                if now < state.nextDeadline { return [:] }
                let (due, later) = (
                    state.entries.filter { $0.value.deadline <= now },
                    state.entries.values.lazy.map(\.deadline).filter { $0 > now }
                )
                // A recorder that has not yet arrived, or whose task the dump lacks, is looked at again.
                let again = due.isEmpty ? nil : now + .seconds(1)
                state.nextDeadline = [later.min(), again].compactMap(\.self).min() ?? now + .seconds(1_000_000_000)
                return due.filter { $0.value.recorder != nil }
            }
            if due.isEmpty { return }
            let all = TaskDump.capture(explaining: .operations)
            let recorders = Set(all.tasks.filter { $0.name == Self.recorderName }.map(\.number))
            let dump = all.filtered { !recorders.contains($0) }
            let living = Set(dump.tasks.map(\.number))
            for (number, entry) in due where !entry.endsWithTask || living.contains(entry.task) {
                state.withLock { $0.entries[number]?.recorder.take() }?.resume(returning: dump)
            }
        }

        /// Removes the entries of tests that have ended, whose scope is not called at the end.
        private func endRecorders() {
            let isNeeded = state.withLock { $0.entries.values.contains(where: \.endsWithTask) }
            if !isNeeded { return }
            let living = TaskDump.listedTasks
            let ended = state.withLock { state in
                let ended = state.entries.filter {
                    $0.value.endsWithTask && $0.value.recorder != nil && !living.contains($0.value.task)
                }
                for number in ended.keys { state.entries[number] = nil }
                return ended.values.map(\.recorder)
            }
            for recorder in ended { recorder?.resume(returning: nil) }
        }
    }
#endif
