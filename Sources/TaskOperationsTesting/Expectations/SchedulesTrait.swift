#if canImport(Testing)
    internal import CSchedules
    internal import Synchronization
    internal import TaskOperations
    public import Testing

    /// Runs a test under many schedules of its tasks, in virtual time, until one fails.
    ///
    /// ```swift
    /// @Test(.schedules(1_000)) func olderSearchIsNotShown() async {
    ///     let screen = await Screen(server: Server())
    ///     let one = Task { await screen.search("a") }
    ///     let two = Task { await screen.search("ab") }
    ///     await one.value
    ///     await two.value
    ///     #expect(await screen.shown == "ab")
    /// }
    /// ```
    ///
    /// The code under test needs no change. A failure shows the steps of a short failing schedule. To run only this
    /// schedule, set the environment variable `TASK_OPERATIONS_SCHEDULE` to the text that the failure names. Such tests run
    /// one at a time, unless they are `parallel`; tests without the trait are not affected.
    public struct SchedulesTrait: TestTrait, SuiteTrait, TestScoping {
        /// The number of schedules, their strategy and the limits.
        public let schedules: Schedules

        /// Creates a trait.
        public init(_ schedules: Schedules) {
            self.schedules = schedules
        }

        /// A suite that has the trait passes it on to its tests. A test's own trait replaces that of its suite.
        public var isRecursive: Bool { true }

        /// Tests that share global state must not explore at once. A test that may run beside others takes one permit, and
        /// the other ones take all.
        private static let turns = AsyncSemaphore(capacity: 2)

        /// Runs a test under schedules. Testing calls this.
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
        ) async throws {
            // If a suite and its test have the trait, the test's one decides, and the other one has no effect.
            if testCase == nil || schedulesCurrent() != nil { return try await function() }
            let schedules = test.traits.lazy.compactMap { ($0 as? Self)?.schedules }.last ?? schedules
            // The thread sanitizer finds races of threads. One thread of a schedule runs at a time, and virtual time needs functions of
            // the system that the sanitizer replaces.
            #if !TASK_OPERATIONS_PTHREAD_LOCK
                try await Self.turns.withPermit(weight: schedules.runsInParallel ? 1 : 2) {
                    let issues = ScheduleIssues()
                    let collecting = IssueHandlingTrait.compactMapIssues { issues.take($0) }
                    try await collecting.provideScope(for: test, testCase: testCase) {
                        switch await explore(schedules, test.name, function, issues) {
                        case .failure(let failure): issues.report(failure)
                        case .success(let summary): issues.report(summary)
                        }
                    }
                }
            #endif
        }

        private func explore(
            _ schedules: Schedules, _ test: String, _ function: @concurrent @Sendable () async throws -> Void,
            _ issues: ScheduleIssues
        ) async -> Exploration.Outcome {
            await withoutActuallyEscaping(function) { function in
                let exploration = Exploration(
                    schedules, test: test, collector: issues, takeFailures: { issues.takeFailures() },
                    announce: { issues.announce($0) },
                    { try await function() })
                exploration.start()
                var looks = 0
                while true {
                    if let outcome = exploration.poll() {
                        if exploration.leavesTasks { schedulesAllowEscape() }
                        return outcome
                    }
                    looks += 1
                    if looks < 10 {
                        await Task.yield()
                    } else if Task.isCancelled {
                        // A cancelled task cannot suspend for a time.
                        exploration.cancel()
                        schedulesSleep(1_000_000)
                    } else {
                        try? await Task.sleep(for: .milliseconds(min(looks, 20)))
                    }
                }
            }
        }
    }

    extension Trait where Self == SchedulesTrait {
        /// Runs a test under many schedules, until one fails.
        ///
        /// - Parameters:
        ///   - count: The largest number of schedules. The environment variable `TASK_OPERATIONS_SCHEDULES` overrules it.
        ///   - strategy: The choice of the jobs.
        ///   - also: Schedules of earlier failures, which run first. A failure names its schedule, for example `1-,4-17`.
        ///   - faults: The events that happen at any step of half of the schedules.
        ///   - leaks: The result of a schedule that passes, and leaves tasks that never end.
        ///   - threads: Whether a job can be interrupted between two statements.
        ///   - parallel: Whether another such test may explore at the same time. Neither may use static variables that
        ///     change, also not those of the main actor.
        public static func schedules(
            _ count: Int = 1_000, _ strategy: ScheduleStrategy = .mixed, also: [String] = [],
            faults: ScheduleFaults = [], leaks: ScheduleLeaks = .note, threads: ScheduleThreads = .one,
            parallel: Bool = false
        ) -> Self {
            var schedules = Schedules(count, strategy)
            (schedules.also, schedules.runsInParallel) = (also, parallel)
            (schedules.faults, schedules.leaks, schedules.threads) = (faults, leaks, threads)
            return Self(schedules)
        }

        /// Runs a test under as many schedules as a time allows, until one fails.
        ///
        /// - Parameters:
        ///   - duration: The real time after which no further schedule begins.
        ///   - strategy: The choice of the jobs.
        ///   - faults: The events that happen at any step of half of the schedules.
        ///   - leaks: The result of a schedule that passes, and leaves tasks that never end.
        ///   - threads: Whether a job can be interrupted between two statements.
        public static func schedules(
            within duration: Duration, _ strategy: ScheduleStrategy = .mixed, faults: ScheduleFaults = [],
            leaks: ScheduleLeaks = .note, threads: ScheduleThreads = .one
        ) -> Self {
            var schedules = Schedules(.max, strategy)
            (schedules.faults, schedules.leaks) = (faults, leaks)
            (schedules.duration, schedules.threads) = (duration, threads)
            return Self(schedules)
        }

        /// Runs a test once, in the usual order of its tasks, in virtual time. Sleeps take no time.
        public static var virtualTime: Self { Self(Schedules(1)) }
    }

    /// The issues that a test records while its schedules are explored.
    private final class ScheduleIssues: Sendable {
        private struct State: Sendable {
            var failures: [RecordedFailure] = []
            /// The steps of a failing schedule, which runs once more for its issues.
            var report: String?
            var hasReported = false
        }

        private let state = Lock(State())

        /// Keeps an issue of an exploration, or returns it if it must be reported. The issues of detached tasks belong to
        /// no test, and reach the traits of all tests that run.
        func take(_ issue: Issue) -> Issue? {
            let isOfTest = Test.current != nil
            let collector = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
            if !isOfTest, schedulesCurrent()?.pointee.collector != collector { return issue }
            return state.withLock { state in
                if !isOfTest, state.report != nil { return nil }
                if let report = state.report {
                    var issue = issue
                    if !state.hasReported { issue.comments.append(Comment(rawValue: report)) }
                    state.hasReported = true
                    return issue
                }
                if issue.isFailure {
                    let place = issue.sourceLocation.map { "\($0)" } ?? "\(issue.kind)"
                    state.failures.append(RecordedFailure(text: "\(issue)", place: place))
                }
                return nil
            }
        }

        func takeFailures() -> [RecordedFailure] {
            state.withLock { state in
                defer { state.failures = [] }
                return state.failures
            }
        }

        func announce(_ failure: ScheduleFailure) {
            let report = failure.report
            state.withLock { $0.report = report }
        }

        /// Reports that a schedule passes which the environment named, and attaches what limits the result.
        func report(_ summary: ScheduleSummary) {
            if !summary.notes.isEmpty {
                Attachment.record(summary.notes.joined(separator: "\n"), named: "schedules.txt")
            }
            guard let note = summary.repetition else { return }
            state.withLock { $0.report = "" }
            #if compiler(>=6.3)
                Issue.record(Comment(rawValue: note), severity: .warning)
            #else
                print(note)
            #endif
        }

        /// Reports a failure whose last run recorded no issue, and attaches its steps as text, data and a picture.
        func report(_ failure: ScheduleFailure) {
            let hasReported = state.withLock { state in
                if state.report == nil { state.report = "" }
                defer { state.hasReported = true }
                return state.hasReported
            }
            if !hasReported { Issue.record(failure) }
            Attachment.record(failure.description, named: "schedule.txt")
            if failure.trace == nil { return }
            Attachment.record(failure.json, named: "schedule.json")
            Attachment.record(failure.html, named: "schedule.html")
        }
    }
#endif
