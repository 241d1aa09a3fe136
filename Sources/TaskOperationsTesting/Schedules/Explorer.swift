internal import CSchedules
internal import CTaskOperations
internal import Synchronization
internal import TaskDump
internal import TaskOperations
internal import TaskOperationsDiagnosis

/// Decides which schedules an exploration runs. Only the thread of the exploration accesses it.
struct Explorer {
    /// One run of the body.
    private struct Attempt {
        let seed: UInt64
        let ending: ScheduleRun.Ending
        let cause: ScheduleFailure.Cause?
        /// The kind of the cause, and its place. Equal ones are one fault.
        let identity: String?
        let record: ScheduleRecord
        let trace: ScheduleTrace?
        let leavesTasks: Bool
        /// The tasks of a traced run that wait forever.
        var dump: TaskDump?

        var schedule: Schedule { Schedule(seed: seed, record.changes) }

        /// Makes the same choices once more, and describes them as changes of the usual order.
        var repetition: Chooser { record.hasChoices ? Chooser(repeating: record) : Chooser(schedule) }
    }

    /// The number of runs of all explorations of the process.
    private static let lastRun = Atomic<UInt64>(0)

    private let exploration: Exploration
    private let settings: Schedules
    private let body: @Sendable () async throws -> Void
    private let thread: UnsafeMutablePointer<SchedulesThread>
    private var notes: [String] = []
    /// The orders of the schedules, if they are compared.
    private var orders: Set<UInt64> = []
    private var comparesOrder: Bool { settings.countsOrders || settings.strategy.isExhaustive }
    /// Whether another thread has resumed a task in any run.
    private var hasArrivals = false
    private var wasStuck = false
    /// Whether this is a copy of the process, which needs no lock of the exploration, and waits for no thread.
    private var isCopy = false
    private var endlessCopies = 0
    /// Whether the first schedule leaves tasks that never end.
    private var leavesTasks = false
    /// Whether each run looks for such tasks, which reads the memory of each.
    private var looksForTasks = true
    /// Whether the time moved in any run before the answer of another thread.
    private var movesBeforeAnswer = false
    /// The observation about a schedule that was to be repeated, and passes.
    private var repetition: String?
    /// The first error of a library that counted as a cancellation.
    private var acceptedError: String?

    init(
        _ exploration: Exploration, _ body: @escaping @Sendable () async throws -> Void,
        on thread: UnsafeMutablePointer<SchedulesThread>
    ) {
        self.exploration = exploration
        settings = exploration.settings
        self.body = body
        self.thread = thread
    }

    mutating func explore() -> Exploration.Outcome {
        guard schedulesTakesTasks() != 0 else {
            return .failure(
                ScheduleFailure(
                    cause: .unavailable, schedule: "usual", place: (0, settings.count), trace: nil, notes: []))
        }
        if let fault = settings.fault {
            return .failure(
                ScheduleFailure(
                    cause: .environment(fault), schedule: "usual", place: (0, settings.count), trace: nil, notes: []))
        }
        if settings.leaks == .fail { TaskDump.begin() }
        var plan = SchedulePlan(settings)
        let end = settings.duration.map { ContinuousClock.now + $0 }
        for number in 0..<settings.count {
            if number > 0, let end, ContinuousClock.now >= end {
                return .success(summary(number, isComplete: plan.isComplete))
            }
            guard !exploration.isCancelled, let next = plan.next() else {
                return .success(summary(number, isComplete: plan.isComplete))
            }
            thread.pointee.number = Int64(number + 1)
            let found = attempt(next.chooser, next.seed)
            if found.cause != nil {
                return .failure(
                    settings.only == nil ? explain(found, number: number + 1) : report(found, number: number + 1))
            }
            if number == 0 { (leavesTasks, looksForTasks) = (found.leavesTasks, settings.leaks == .fail) }
            if let only = settings.only { repetition = passNote(only, found.record) }
            if comparesOrder { orders.insert(found.record.order) }
            // The length of an endless schedule says nothing about the others.
            if found.ending != .endless { plan.note(found.record) }
            if number % 50 == 49 { check(found) }
        }
        if settings.isOfEnvironment, settings.only == nil {
            repetition = "The first \(settings.count) schedules pass."
        }
        return .success(summary(settings.count, isComplete: plan.isComplete))
    }

    private mutating func summary(_ count: Int, isComplete: Bool) -> ScheduleSummary {
        if leavesTasks, count > 1, let dump = attempt(Chooser(Schedule()), 0, isTraced: true).dump {
            notes.append("The body leaves tasks that never end. \(dump.causes)")
        }
        let arrivals = hasArrivals && !notes.contains(Self.arrivalNote) ? [Self.arrivalNote] : []
        let answers = movesBeforeAnswer ? [Self.answerNote] : []
        let errors = acceptedError.map { ["In a schedule with a cancellation, this error counts as one: \($0)"] } ?? []
        let copies = copiesHang ? [Self.copiesNote] : []
        let unlisted = settings.leaks == .fail && !TaskDump.begin() ? [Self.unlistedNote] : []
        let repeated = repetition.map { [$0] } ?? []
        return ScheduleSummary(
            count: count, orderCount: comparesOrder ? orders.count : nil, isComplete: isComplete,
            notes: notes + copies + unlisted + arrivals + answers + errors + repeated, repetition: repetition)
    }

    /// Repeats a schedule, and adds a note if it differs.
    private mutating func check(_ found: Attempt) {
        guard notes.isEmpty else { return }
        if found.record.arrivals > 0 { return notes.append(Self.arrivalNote) }
        let widths = attempt(found.repetition, found.seed).record.widths
        if widths == found.record.widths { return }
        let step = zip(widths, found.record.widths).prefix { $0 == $1 }.count
        notes.append(
            """
            A repeated schedule differed at step \(step). Usual causes: state that a schedule leaves behind, the order \
            of a Set or Dictionary, addresses, random numbers (use Schedules.generator()).
            """)
    }

    /// The observation that a schedule passes; nil if a test names a schedule of its own, which may pass.
    private func passNote(_ schedule: Schedule, _ record: ScheduleRecord) -> String? {
        guard let missing = schedule.changes.first(where: { !record.changes.contains($0) }) else {
            return settings.isOfEnvironment ? "The schedule \(schedule) passes. \(Self.hashingNote)" : nil
        }
        let width = record.widths.indices.contains(missing.step) ? record.widths[missing.step] : 0
        return "The schedule \(schedule) passes, but it is none of this program: at step \(missing.step), "
            + "\(width) \(width == 1 ? "job is" : "jobs are") ready. Perhaps the code has changed."
    }

    private static var arrivalNote: String {
        "Other threads resumed tasks. A schedule is not repeatable from there."
    }

    private static var hashingNote: String {
        "If it failed in another process, the order of a Set or Dictionary may decide: set SWIFT_DETERMINISTIC_HASHING=1 "
            + "for both."
    }

    private static var unlistedNote: String {
        "Tasks that never end are not found: the layout of this runtime or system is not known."
    }

    /// Whether schedules are not copied any more.
    private var copiesHang: Bool { endlessCopies > 1 }

    private static var copiesNote: String {
        "Later schedules ran without a copy of the process, because copies did not end. Perhaps they wait for another thread."
    }

    private static var answerNote: String {
        "The time moved while threads or blocks of Dispatch that the code had begun could still resume tasks."
    }
}

// MARK: - Running the body once

extension Explorer {
    private mutating func attempt(_ chooser: Chooser, _ seed: UInt64, isTraced: Bool = false) -> Attempt {
        let crash = settings.forks && !chooser.interruptsJobs && !copiesHang ? crash(of: chooser, seed) : nil
        thread.pointee.fatalJob = crash.map { max($0.job, 1) } ?? 0
        return attempt(chooser, seed, isTraced: isTraced, crash)
    }

    /// Runs a schedule in a copy of the process. Returns nil if no signal ends the copy.
    private mutating func crash(of chooser: Chooser, _ seed: UInt64) -> Crash? {
        // A lock that another thread had when the process was copied is never released in the copy, which then waits
        // forever, or ends with this text of `Mutex`.
        for number in 0..<8 {
            let (crash, output) = copy(chooser, seed)
            if output.includes("Unknown error occurred while attempting to acquire a Mutex") {
                schedulesSleep(100_000 << Int64(number))
                continue
            }
            if crash.jobs >= 0 { return crash.signal.map { Crash(String(cString: $0), output, job: crash.jobs) } }
            endlessCopies += 1
            if copiesHang { break }
        }
        return nil
    }

    /// Runs a schedule in a copy of the process. Returns the end of the copy, and the last lines that it has printed.
    private func copy(_ chooser: Chooser, _ seed: UInt64) -> (SchedulesCrash, output: String) {
        var crash = SchedulesCrash()
        // A longer time would not fit into the number.
        let limit = Int64(min(settings.blockLimit, .seconds(3_600)) / .nanoseconds(1))
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { output in
            if schedulesFork(thread, limit, output.baseAddress!, output.count, &crash) == 1 {
                var explorer = self
                (explorer.isCopy, thread.pointee.fatalJob) = (true, 0)
                _ = explorer.attempt(chooser, seed, isTraced: false, nil)
                schedulesEndCopy()
            }
            return (crash, String(cString: output.baseAddress!))
        }
    }

    /// - Parameter crash: The crash that the schedule causes; nil if it causes none.
    private mutating func attempt(_ chooser: Chooser, _ seed: UInt64, isTraced: Bool, _ crash: Crash?) -> Attempt {
        let number = Self.lastRun.add(1, ordering: .relaxed).newValue
        let run = ScheduleRun(chooser, number, on: thread, isTraced: isTraced, comparesOrder: comparesOrder)
        let result = BodyResult()
        // The objects that a run leaves behind are released outside the run, because a `deinit` may create a task.
        defer { extendLifetime(result) }
        (thread.pointee.seed, thread.pointee.usesSeed) = (seed, 0)
        if isTraced { TaskDump.begin() }
        taskOperationsSetRunNumber(number)
        schedulesEnter(thread)
        defer {
            schedulesEnter(nil)
            taskOperationsSetRunNumber(0)
        }
        return perform(run, result, seed, crash)
    }

    private mutating func perform(
        _ run: ScheduleRun, _ result: BodyResult, _ seed: UInt64, _ crash: Crash?
    ) -> Attempt {
        if !isCopy, !exploration.begin(run) { run.abandon() }
        let task = Task(executorPreference: run) { [body] in
            do {
                try await body()
                result.value.withLock { $0 = .success(()) }
            } catch {
                result.value.withLock { $0 = .failure(error) }
            }
        }
        let isFinished = { result.value.withLock { $0 != nil } }
        // A program without other threads waits for nothing.
        let patience = isCopy || wasStuck && !hasArrivals ? .zero : settings.patience
        // Work that never answers, such as that of a logger, would delay each schedule.
        let answerPatience = movesBeforeAnswer ? .milliseconds(2) : settings.patience
        let ending = run.run(
            stepLimit: settings.stepLimit, patience: patience, answerPatience: answerPatience, isFinished: isFinished)
        let (record, trace) = (run.record, run.trace)
        movesBeforeAnswer = movesBeforeAnswer || record.movesBeforeAnswer
        hasArrivals = hasArrivals || record.arrivals > 0
        var dump: TaskDump?
        let recorded = exploration.takeFailures()
        var cause = recorded.isEmpty ? nil : ScheduleFailure.Cause.recorded(recorded.map(\.text))
        var identity = recorded.first?.place
        if ending != .finished {
            wasStuck = wasStuck || ending == .stuck
            cause = ending == .stuck ? .stuck : .endless
            identity = "\(ending)"
            if ending == .stuck { dump = self.dump(of: run, explaining: .operations) }
            // A cancelled loop that ignores errors would not suspend any more. It would then keep this thread forever.
            // With copies, most bodies are not cancelled: a handler that ends the process would be reported as a crash,
            // which only this cancellation causes.
            // A job that waits for a lock may be in the middle of a cancellation, which this thread would wait for.
            let mayCancel = thread.pointee.startedJobs == 0 && (!settings.forks || record.cancelsTest == false)
            if ending == .stuck, mayCancel { end(task, of: run, isFinished) }
            if !isFinished() { exploration.noteLeftTask() }
            // Only another task was cancelled. The test may wait for its work, and needs to end only when it is cancelled
            // itself.
            if record.cancelsTest == false, isFinished() || ending == .endless { (cause, dump) = (nil, nil) }
            if ending == .fatal, let crash { (cause, identity) = (.crashed(crash.text), crash.identity) }
        } else if case .failure(let error) = result.value.withLock({ $0 }) {
            if record.cancelsTest == nil || !Self.isCancellation(error) {
                cause = .error(error)
                identity = "\(type(of: error))"
            } else if !(error is CancellationError), acceptedError == nil {
                acceptedError = "\(error)"
            }
        }
        let leavesTasks = (looksForTasks || trace != nil) && ending == .finished && cause == nil && run.hasLivingTasks
        if leavesTasks, settings.leaks == .fail { (cause, identity) = (.leaked, "leaked") }
        if leavesTasks { dump = self.dump(of: run) }
        run.close(isFinished: isFinished())
        result.tasks.withLock { $0 = run.takeTasks() }
        return Attempt(
            seed: thread.pointee.usesSeed == 0 ? 0 : seed, ending: ending, cause: cause, identity: identity,
            record: record, trace: trace, leavesTasks: leavesTasks, dump: dump)
    }
}

extension Explorer {
    /// The living tasks of a run; nil if it is not traced.
    ///
    /// - Parameter explainer: Looks at the queues that the run has created.
    private func dump(of run: ScheduleRun, explaining explainer: TaskDump.Explainer? = nil) -> TaskDump? {
        run.trace == nil ? nil : TaskDump.capture(of: { run.hasCreated($0) }, explaining: explainer)
    }

    /// Whether an error says that a task was cancelled. Libraries have errors of their own for this.
    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || "\(error)".lowercased().includes("cancel")
    }

    /// Cancels a body that waits forever, so that it can end.
    private func end(_ task: Task<Void, Never>, of run: ScheduleRun, _ isFinished: () -> Bool) {
        exploration.isEndingStuckBody = true
        run.forgetCancellation()
        task.cancel()
        _ = run.run(
            stepLimit: run.progress.steps + 10_000, patience: .zero, answerPatience: .zero, isFinished: isFinished)
        exploration.isEndingStuckBody = false
    }
}

/// The end of a copy of the process by a signal.
private struct Crash {
    let text: String
    /// The place that the message names. The rest of a message can differ each time, and memory that was overwritten ends
    /// the process by different signals.
    let identity: String
    /// The number of the last job.
    let job: Int64

    init(_ signal: String, _ output: String, job: Int64) {
        let lines = output.split(whereSeparator: \.isNewline).map(String.init)
        let fatalError = lines.last { $0.includes("Fatal error: ") }
        // A function of the C library prints its reason last.
        let reason = fatalError ?? (signal == "SIGABRT" ? lines.last : nil)
        text = signal + (reason.map { ": \($0)" } ?? "")
        let place = fatalError?.split(separator: " ").prefix { $0 != "Fatal" }.joined(separator: " ")
        identity = "crashed \(place ?? "")"
        self.job = job
    }
}

private final class BodyResult: Sendable {
    let value = Lock<Result<Void, any Error>?>(nil)
    /// The tasks that the run has retained.
    let tasks = Lock<[CreatedTask]>([])
}

// MARK: - Explaining a failure

extension Explorer {
    /// Reduces a failing schedule, and describes the result.
    private mutating func explain(_ found: Attempt, number: Int) -> ScheduleFailure {
        // Jobs that wait for each other never end, and each keeps a thread.
        var (best, budget) = (
            found, found.ending == .stuck && found.schedule.changes.contains(where: \.isInterruption) ? 40 : 300
        )
        let changes = attempt(found.repetition, found.seed).record.changes
        guard reduce(&best, to: changes, &budget, limit: .max) else {
            notes.append(
                found.record.arrivals > 0
                    ? Self.arrivalNote : "The failure did not appear again when the schedule was repeated.")
            return failure(found, number: number, schedule: "#\(number)")
        }
        if !reduce(&best, to: [], &budget) {
            removeChanges(&best, &budget)
            extendDelays(&best, &budget)
            removeChanges(&best, &budget)
            useOneDelay(&best, &budget)
        }
        return report(best, number: number)
    }

    /// Leaves out the changes that the failure does not need: first halves, then quarters, and so on.
    private mutating func removeChanges(_ best: inout Attempt, _ budget: inout Int) {
        var size = (best.record.changes.count + 1) / 2
        while size > 0 {
            var start = 0
            while start < best.record.changes.count, best.record.changes.count > 1, budget > 0 {
                var shorter = best.record.changes
                let removed = start..<min(start + size, shorter.count)
                for change in shorter[removed].reversed() where change.isInterruption {
                    shorter = shorter.map { $0.withoutInterruption(at: change.step) }
                }
                shorter.removeSubrange(removed)
                if !reduce(&best, to: shorter, &budget) { start += size }
            }
            size /= 2
        }
    }

    /// Lets delays last until no other job is ready, if the failure remains. Other changes often need this less.
    private mutating func extendDelays(_ best: inout Attempt, _ budget: inout Int) {
        var index = 0
        while index < best.record.changes.count, budget > 0 {
            var longer = best.record.changes
            if case .delay(let end) = longer[index].kind, end != .max {
                longer[index].kind = .delay(until: .max)
                _ = reduce(&best, to: longer, &budget, limit: longer.count)
            }
            index += 1
        }
    }

    /// Looks for one delay that shows the failure, instead of several changes.
    private mutating func useOneDelay(_ best: inout Attempt, _ budget: inout Int) {
        let widths = best.record.widths
        for step in widths.indices where widths[step] > 1 && best.record.changes.count > 1 && budget > 0 {
            _ = reduce(&best, to: [Change(step: step, .delay(until: .max))], &budget)
        }
    }

    /// Describes a failing schedule, and runs it once more for the test library.
    private mutating func report(_ found: Attempt, number: Int) -> ScheduleFailure {
        let traced = attempt(Chooser(found.schedule), found.seed, isTraced: true)
        let failure = failure(traced.cause == nil ? found : traced, number: number)
        exploration.announce(failure)
        _ = attempt(Chooser(found.schedule), found.seed)
        return failure
    }

    /// Runs a schedule, and keeps it if it shows the same fault and has few changes.
    ///
    /// - Parameter limit: The largest number of changes; nil for one less than the best schedule has.
    private mutating func reduce(
        _ best: inout Attempt, to list: [Change], _ budget: inout Int, limit: Int? = nil
    ) -> Bool {
        budget -= 1
        let attempt = attempt(Chooser(Schedule(seed: best.seed, list)), best.seed)
        guard attempt.identity == best.identity,
            attempt.record.changes.count <= limit ?? (best.record.changes.count - 1)
        else {
            return false
        }
        best = attempt
        return true
    }

    /// - Parameter schedule: The text that names the schedule; nil for its changes.
    private func failure(_ found: Attempt, number: Int, schedule: String? = nil) -> ScheduleFailure {
        var notes = notes
        if found.record.arrivals > 0, !notes.contains(Self.arrivalNote) { notes.append(Self.arrivalNote) }
        if copiesHang { notes.append(Self.copiesNote) }
        if found.record.movesBeforeAnswer { notes.append(Self.answerNote) }
        if schedulesTakesClocks() == 0, thread.pointee.clockReads > 0 { notes.append("Clocks show the real time.") }
        return ScheduleFailure(
            cause: found.cause ?? .stuck, schedule: schedule ?? found.schedule.description,
            place: (number, settings.count), trace: found.trace, dump: found.dump, notes: notes)
    }
}
