internal import CSchedules
internal import Synchronization
internal import TaskOperations

#if compiler(>=6.3) && os(Linux)
    @_spi(ExperimentalScheduling) import _Concurrency
#endif

/// Runs the jobs of one schedule on the calling thread, in virtual time. Time moves to the next deadline when no job is
/// ready.
///
/// The runtime passes every job of the run to this object, because it is the preferred executor of every task that is
/// created on the thread. A foreign thread passes a job to it only by resuming such a task.
final class ScheduleRun: TaskExecutor {
    struct Ready: Sendable {
        let job: UnownedJob
        /// The number of the task. A job that runs an actor has the number of the task that entered the actor, or a
        /// number of its own.
        let task: UInt64
        let isMain: Bool
        /// The actor that the task is about to enter; nil if it does not enter one.
        let entry: SchedulesSwitch?
        /// The priority, for the strategy with priorities.
        var rank: UInt64
    }

    fileprivate struct Timer: Sendable {
        let deadline: Int64
        let ready: Ready
    }

    fileprivate struct State: Sendable {
        var chooser: Chooser
        var ready: [Ready] = []
        /// The number of ready jobs of the main actor.
        var mainCount = 0
        /// Whether the job that runs an actor, which the running task has entered, is the first ready one.
        var entered = false
        var timers: [Timer] = []
        var now: Int64 = 0
        var running: Ready?
        /// The number of the first task of the run. Tasks with lower numbers are foreign.
        var firstTask: UInt64 = 0
        var unnamedJobs: UInt64 = 0
        /// The tasks that sleep, by the number of the sleep.
        var sleepers: [UInt64: UInt64] = [:]
        var record = ScheduleRecord()
        var trace: ScheduleTrace?
        /// Whether the run has ended.
        var isClosed = false
        /// Whether the jobs never run again.
        var isAbandoned = false
    }

    /// The reason why `run` returned.
    enum Ending: Sendable {
        case finished, stuck, endless
    }

    private let state: Lock<State>
    // Only the exploring thread accesses the memory, except for a comparison of the address.
    nonisolated(unsafe) private let thread: UnsafeMutablePointer<SchedulesThread>
    private let main = MainActorExecutor()
    private let paused = PausedExecutor()

    /// - Parameter thread: The exploration of the calling thread.
    init(_ chooser: Chooser, on thread: UnsafeMutablePointer<SchedulesThread>, isTraced: Bool) {
        state = Lock(State(chooser: chooser, trace: isTraced ? ScheduleTrace() : nil))
        self.thread = thread
        main.run = self
        paused.run = self
        thread.pointee.run = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // The types are an identity and an implementation.
        thread.pointee.taskExecutor = unsafeBitCast(asUnownedTaskExecutor(), to: SchedulesExecutor.self)
        thread.pointee.mainExecutor = unsafeBitCast(main.asUnownedSerialExecutor(), to: SchedulesExecutor.self)
        thread.pointee.pausedExecutor = unsafeBitCast(paused.asUnownedSerialExecutor(), to: SchedulesExecutor.self)
        thread.pointee.elapsed = 0
        thread.pointee.wantsCallers = isTraced ? 1 : 0
        thread.pointee.switching = isTraced ? { ScheduleRun.current.traceSwitch($0, $1, $2) } : nil
        thread.pointee.enqueue = { ScheduleRun.current.takeGlobal(unsafeBitCast($0, to: UnownedJob.self), $1) }
    }

    /// The run of the calling thread, which explores. The exploration retains the run until the next one begins.
    private static var current: ScheduleRun {
        Unmanaged<ScheduleRun>.fromOpaque(schedulesCurrent()!.pointee.run!).takeUnretainedValue()
    }

    /// The choices that were made, and the observations about them.
    var record: ScheduleRecord { state.withLock { $0.record } }

    /// The events of the run; nil if it is not traced.
    var trace: ScheduleTrace? { state.withLock { $0.trace } }

    /// Whether the body runs now, not another task.
    var isFirstTaskRunning: Bool { state.withLock { $0.running?.task == $0.firstTask } }

    /// Stops the thread before the next step, forever: the test has ended without it.
    func abandon() { state.withLock { $0.isAbandoned = true } }

    /// Ends the run. Its tasks belong to later runs, or never continue if the body has not finished.
    func close(isFinished: Bool) {
        state.withLock { state in
            (state.ready, state.timers, state.isClosed) = ([], [], true)
            state.isAbandoned = state.isAbandoned || !isFinished
        }
    }

    /// The number of steps, and the task that runs now; nil between steps.
    var progress: (steps: Int, task: UInt64?) { state.withLock { ($0.record.widths.count, $0.running?.task) } }
}

/// The choices of a schedule, and the observations about it.
struct ScheduleRecord: Sendable {
    /// The number of ready jobs at each step.
    var widths: [Int] = []
    var deviations: [Deviation] = []
    /// The number of jobs that other threads caused.
    var arrivals = 0
}

/// Replaces the executor of the main actor.
private final class MainActorExecutor: SerialExecutor {
    // Set once, before the first job. The run owns this object, and every task of the run owns the run.
    nonisolated(unsafe) unowned(unsafe) var run: ScheduleRun!

    func enqueue(_ job: consuming ExecutorJob) { run.take(UnownedJob(job), isMain: true) }
}

/// Receives the tasks that are about to enter an actor. Other threads do not use it.
private final class PausedExecutor: SerialExecutor {
    // As for the executor of the main actor.
    nonisolated(unsafe) unowned(unsafe) var run: ScheduleRun!

    func enqueue(_ job: consuming ExecutorJob) { run.take(UnownedJob(job), entry: schedulesCurrent()!.pointee.pausing) }
}

// MARK: - Accepting jobs

extension ScheduleRun {
    func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }

    /// Takes a job of the default executor. Returns 0 if a foreign task was resumed.
    private func takeGlobal(_ job: UnownedJob, _ delay: Int64) -> CInt {
        let number = schedulesTaskNumber(job.pointer)
        if number != 0, number < state.withLock({ $0.firstTask }) { return 0 }
        take(job, after: delay)
        return 1
    }

    fileprivate func take(
        _ job: UnownedJob, isMain: Bool = false, after delay: Int64 = 0, entry: SchedulesSwitch? = nil
    ) {
        if state.withLock({ $0.isClosed }) { return pass(on: job, isMain: isMain) }
        let isOwn = schedulesCurrent() == thread
        let number = schedulesTaskNumber(job.pointer)
        var new = NewJob(job: job, number: number, isMain: isMain, delay: delay, entry: entry)
        if isOwn {
            new.caller = schedulesCurrentTask()
            new.isContinuation = new.number == 0 && schedulesActor(job.pointer) == nil
            swap(&new.switching, &thread.pointee.switchingTask)
            if thread.pointee.wantsCallers != 0 { new.birth = TaskBirth(thread.pointee) }
        }
        state.withLock { state in
            if !isOwn { state.record.arrivals += 1 }
            state.add(new)
        }
    }

    /// Passes on a job of a task that outlives the run, for example the task of a queue in a static variable: to the
    /// run of the calling thread, or else to the ordinary executors.
    private func pass(on job: UnownedJob, isMain: Bool) {
        if state.withLock({ $0.isAbandoned }) { return }
        if schedulesCurrent() != nil {
            Self.current.take(job, isMain: isMain)
        } else if isMain {
            MainActor.shared.enqueue(job)
        } else {
            globalConcurrentExecutor.enqueue(job)
        }
    }

    private func traceSwitch(_ task: UInt64, _ resume: UnsafeRawPointer, _ actor: UnsafeRawPointer?) {
        // The task that enters the actor retains the actor.
        let name = actor.map { "\(type(of: Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()))" }
        let isMain = actor == thread.pointee.mainExecutor.identity
        state.withLock { $0.trace?.noteSwitch(of: task, resume, to: isMain ? "MainActor" : name) }
    }
}

/// A job that was enqueued.
struct NewJob: Sendable {
    let job: UnownedJob
    /// The number of the task; 0 if the job runs an actor or continues a task.
    let number: UInt64
    let isMain: Bool
    /// The time until the job is ready, in nanoseconds.
    let delay: Int64
    let entry: SchedulesSwitch?
    /// The number of the calling task; 0 if there is none.
    var caller: UInt64 = 0
    /// The number of the task that is entering or leaving an actor; 0 if none is.
    var switching: UInt64 = 0
    /// Whether the job continues a task that yields or sleeps.
    var isContinuation = false
    var birth: TaskBirth?

    /// Whether the calling task yields.
    var isYield: Bool { delay == 0 && caller != 0 && switching == 0 && (isContinuation || number == caller) }
}

extension ScheduleRun.State {
    fileprivate mutating func add(_ new: NewJob) {
        if firstTask == 0 { firstTask = new.number }
        let task = task(of: new)
        if new.isYield { chooser.noteYield(of: task) }
        trace?.note(new, task)
        let rank = chooser.rank(of: task)
        let job = ScheduleRun.Ready(job: new.job, task: task, isMain: new.isMain, entry: new.entry, rank: rank)
        entered = running?.entry != nil && new.switching != 0 && new.number == 0
        if new.isMain { mainCount += 1 }
        // The end of a yield or a sleep, and changes in code of the runtime.
        let continues = new.caller == 0 && new.number != 0 && task == running?.task
        if new.delay > 0 {
            timers.append(ScheduleRun.Timer(deadline: now + min(new.delay, .max / 4), ready: job))
        } else if new.switching != 0 || continues {
            ready.insert(job, at: 0)
        } else {
            ready.append(job)
        }
    }

    /// The number of the task for which a job runs. A sleep is a task of its own in the runtime.
    private mutating func task(of new: NewJob) -> UInt64 {
        if new.delay > 0, new.number != 0, new.number != new.caller { sleepers[new.number] = new.caller }
        if new.number != 0 { return sleepers[new.number] ?? new.number }
        if new.switching != 0 { return new.switching }
        if new.isContinuation, new.caller != 0 { return new.caller }
        unnamedJobs += 1
        return 1 << 63 | unnamedJobs
    }
}

extension UnownedJob {
    // A job is a reference to an object of the runtime.
    fileprivate var pointer: UnsafeRawPointer { unsafeBitCast(self, to: UnsafeRawPointer.self) }
}

#if compiler(>=6.3) && os(Linux)
    extension ScheduleRun: SchedulingExecutor {
        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
        ) {
            take(UnownedJob(job), after: (delay as? Duration)?.roundedNanoseconds ?? 0)
        }

        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
        ) {
            take(UnownedJob(job), after: (clock.now.duration(to: instant) as? Duration)?.roundedNanoseconds ?? 0)
        }
    }

    extension Duration {
        fileprivate var roundedNanoseconds: Int64 {
            let (seconds, attoseconds) = components
            // A century, so that sums do not overflow.
            return min(max(seconds, 0), 3_155_760_000) * 1_000_000_000 + max(attoseconds, 0) / 1_000_000_000
        }
    }
#endif

// MARK: - Running jobs

extension ScheduleRun {
    /// Runs jobs until none is left.
    ///
    /// - Parameters:
    ///   - stepLimit: The number of steps after which the program counts as endless.
    ///   - patience: The real time to wait for other threads if no job is left and the body has not finished.
    ///   - isFinished: Returns whether the body has finished.
    func run(stepLimit: Int, patience: Duration, isFinished: () -> Bool) -> Ending {
        // Tasks that the body has left behind may sleep repeatedly, without an end.
        var remainingTimers = 100
        while true {
            while let next = state.withLock({ $0.next(stepLimit) }) { perform(next) }
            while state.withLock({ $0.isAbandoned }) { schedulesSleep(3_600_000_000_000) }
            if state.withLock({ !$0.ready.isEmpty }) { return .endless }
            if isFinished() {
                remainingTimers -= 1
                if remainingTimers < 0 { return .finished }
            } else if state.withLock({ $0.record.arrivals > 0 && !$0.timers.isEmpty }) {
                // Other threads take part. An answer of theirs precedes the end of a sleep.
                if waitForArrival(.milliseconds(2)) { continue }
            }
            if let now = state.withLock({ $0.advance() }) {
                thread.pointee.elapsed = now
            } else if isFinished() {
                return .finished
            } else if !waitForArrival(patience) {
                return .stuck
            }
        }
    }

    private func perform(_ next: Ready) {
        thread.pointee.switchingTask = 0
        if next.isMain {
            next.job.runSynchronously(on: main.asUnownedSerialExecutor())
        } else {
            if let entry = next.entry { thread.pointee.resuming = entry }
            next.job.runSynchronously(on: asUnownedTaskExecutor())
        }
        // A task that enters an idle actor continues at once.
        if let actor = state.withLock({ $0.takeEntered() }) { actor.runSynchronously(on: asUnownedTaskExecutor()) }
        state.withLock { $0.running = nil }
    }

    /// Waits until another thread adds a job. Returns false if none does in time.
    private func waitForArrival(_ patience: Duration) -> Bool {
        var pause = Duration.microseconds(20)
        var waited = Duration.zero
        while waited < patience {
            schedulesSleep(Int64(pause / .nanoseconds(1)))
            if state.withLock({ !$0.ready.isEmpty }) { return true }
            waited += pause
            pause = min(pause * 2, .milliseconds(5))
        }
        return false
    }
}

extension ScheduleRun.State {
    /// Removes and returns the job of the next step; nil if none is ready or the limit is reached.
    fileprivate mutating func next(_ stepLimit: Int) -> ScheduleRun.Ready? {
        let step = record.widths.count
        guard !ready.isEmpty, !isAbandoned, step < stepLimit else { return nil }
        var (choice, width, position) = (0, 1, 0)
        if ready.count > 1 {
            if let able = ablePositions() {
                var jobs = able.map { ready[$0] }
                width = able.count
                if width > 1 { choice = chooser.choose(at: step, among: &jobs) }
                position = able[choice]
            } else {
                width = ready.count
                choice = chooser.choose(at: step, among: &ready)
                position = choice
            }
        }
        if choice != 0 { record.deviations.append(Deviation(step: step, choice: choice)) }
        let next = ready.remove(at: position)
        if next.isMain { mainCount -= 1 }
        trace?.noteStep(step, next.task, isMain: next.isMain, choice: choice, width: width)
        record.widths.append(width)
        running = next
        return next
    }

    /// Removes and returns the job of the actor that the running task has entered; nil if there is none.
    fileprivate mutating func takeEntered() -> UnownedJob? {
        guard entered else { return nil }
        entered = false
        return ready.removeFirst().job
    }

    /// The positions of the jobs that may run next; nil if all may. The jobs of the main actor keep their order.
    private func ablePositions() -> [Int]? {
        guard mainCount > 1 else { return nil }
        var hasMain = false
        return ready.indices.filter { index in
            defer { hasMain = hasMain || ready[index].isMain }
            return !ready[index].isMain || !hasMain
        }
    }

    /// Advances the time to the next deadline, and makes its jobs ready. Returns the time in nanoseconds; nil if there
    /// is no deadline.
    fileprivate mutating func advance() -> Int64? {
        guard let deadline = timers.min(by: { $0.deadline < $1.deadline })?.deadline else { return nil }
        now = max(now, deadline)
        for timer in timers where timer.deadline == deadline { ready.append(timer.ready) }
        timers.removeAll { $0.deadline == deadline }
        return now
    }
}
