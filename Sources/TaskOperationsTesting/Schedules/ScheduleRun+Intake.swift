internal import CSchedules
internal import Synchronization
internal import TaskOperations

#if compiler(>=6.3) && os(Linux)
    @_spi(ExperimentalScheduling) import _Concurrency
#endif

/// Replaces the executor of the main actor.
final class MainActorExecutor: SerialExecutor {
    // Set once, before the first job. The run owns this object, and every task of the run owns the run.
    nonisolated(unsafe) unowned(unsafe) var run: ScheduleRun!

    func enqueue(_ job: consuming ExecutorJob) { run.take(UnownedJob(job), isMain: true) }
}

/// Receives the tasks that are about to enter an actor, or to begin on it. Other threads do not use it.
final class PausedExecutor: SerialExecutor {
    // As for the executor of the main actor.
    nonisolated(unsafe) unowned(unsafe) var run: ScheduleRun!

    func enqueue(_ job: consuming ExecutorJob) { run.take(UnownedJob(job), entry: schedulesCurrent()!.pointee.pausing) }
}

extension ScheduleRun {
    func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }

    /// Takes a job of the default executor. Returns 0 if a foreign task was resumed.
    func takeGlobal(_ job: UnownedJob, _ delay: Int64) -> CInt {
        let number = schedulesTaskNumber(job.pointer)
        if number != 0, number < state.withLock({ $0.firstTask }) { return 0 }
        take(job, after: delay)
        return 1
    }

    fileprivate func take(
        _ job: UnownedJob, isMain: Bool = false, after delay: Int64 = 0, entry: SchedulesSwitch? = nil
    ) {
        let number = schedulesTaskNumber(job.pointer)
        var new = NewJob(job: job, number: number, isMain: isMain, delay: delay, entry: entry)
        let isOwn = schedulesCurrent() == thread
        if isOwn {
            new.caller = schedulesCurrentTask()
            new.switching = thread.pointee.switchingTask
            new.isContinuation = number == 0 && schedulesActor(job.pointer) == nil
        }
        let isTaken = state.withLock { state in
            if state.isClosed { return false }
            if !isOwn { state.record.arrivals += 1 }
            state.add(new)
            return true
        }
        if !isTaken { return pass(on: job, isMain: isMain) }
        if isOwn { thread.pointee.switchingTask = 0 }
        // A task that suspends has nothing left that could be interrupted.
        if isOwn, new.delay == 0, new.switching == 0, !new.isYield { schedulesPoint() }
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

    /// Whether the calling task yields.
    var isYield: Bool { delay == 0 && caller != 0 && switching == 0 && (isContinuation || number == caller) }
}

extension ScheduleRun.State {
    fileprivate mutating func add(_ new: NewJob) {
        var new = new
        // No task is current in such a job on a worker. On the exploring thread, it is the exploration's.
        if new.caller == 0, running?.isContinuation == true { new.caller = 1 }
        if firstTask == 0 { firstTask = new.number }
        let task = task(of: new)
        let isYield = new.isYield
        if isYield { chooser.noteYield(of: task) }
        if task != running?.task { idleSteps = 0 }
        if chooser.mayCancel, new.number == task { noteCreation(of: task) }
        trace?.note(new, task)
        let job = ReadyJob(
            rank: chooser.rank(of: task, isYield: isYield), job: new.job, task: task, isMain: new.isMain,
            entry: new.entry, number: jobCount, isContinuation: new.isContinuation)
        jobCount += 1
        if comparesOrder { order.noteJob() }
        // The end of a yield or a sleep, and changes in code of the runtime.
        let continues = new.caller == 0 && new.number != 0 && task == running?.task
        if new.delay > 0 {
            timers.add(job, after: new.delay)
        } else if new.switching != 0, new.number == 0, running?.entry != nil {
            entered = job
        } else if let entry = new.entry {
            addArrival(job, entry, isNext: new.switching != 0 || continues)
        } else {
            ready.add(job, isNext: new.switching != 0 || continues)
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
    var pointer: UnsafeRawPointer { unsafeBitCast(self, to: UnsafeRawPointer.self) }
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
        /// The nanoseconds, rounded up: a sleep must not end before its deadline. At most a century, so that sums do not
        /// overflow.
        fileprivate var roundedNanoseconds: Int64 {
            let (seconds, attoseconds) = components
            return min(max(seconds, 0), 3_155_760_000) * 1_000_000_000 + (max(attoseconds, 0) + 999_999_999)
                / 1_000_000_000
        }
    }
#endif
