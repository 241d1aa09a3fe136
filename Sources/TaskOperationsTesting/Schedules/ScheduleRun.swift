internal import CSchedules
internal import CTaskOperations
internal import Synchronization
internal import TaskDump
internal import TaskOperations

/// Runs the jobs of one schedule, in virtual time. One thread runs at any moment: the calling one, or that of a job which
/// can be interrupted. Time moves to the next deadline when no job is ready.
///
/// The runtime passes every job of the run to this object, because it is the preferred executor of every task that is
/// created on the thread. A foreign thread passes a job to it only by resuming such a task.
final class ScheduleRun: TaskExecutor {
    /// Not copyable, because a build without optimization would copy it for each call.
    struct State: ~Copyable, Sendable {
        var chooser: Chooser
        var ready = ReadyJobs()
        var delayed = DelayedJobs()
        /// The tasks that begin on an actor, and the arrivals that follow them, by actor.
        var arrivals: [UInt: Arrivals] = [:]
        /// The positions in the record of the delays that have not ended, by the numbers of their jobs.
        var delayIndices: [Int: Int] = [:]
        var jobCount = 0
        /// The tasks in the order of their creation, and which of them can be cancelled; empty if none will be.
        var created: [UInt64: Int] = [:]
        var candidates: [Int: CreatedTask] = [:]
        /// The task to cancel before the next job begins, and its number.
        var cancelled: (number: Int, task: CreatedTask)?
        /// The number of steps after which the run counts as endless, because a task was cancelled.
        var lastStep = Int.max
        /// The number of steps since a task made another task ready, or did not continue.
        var idleSteps = 0
        /// The job that runs an actor, which the running task has entered.
        var entered: ReadyJob?
        var timers = Timers()
        var running: ReadyJob?
        /// The jobs that wait for a lock that an interrupted job may have.
        var blocked: [ReadyJob] = []
        /// The address of the function with which the running job began; 0 if it is unknown.
        var runningFunction: UInt = 0
        /// The number of the first task of the run. Tasks with lower numbers are foreign.
        var firstTask: UInt64 = 0
        var unnamedJobs: UInt64 = 0
        /// The tasks that sleep, by the number of the sleep.
        var sleepers: [UInt64: UInt64] = [:]
        /// The tasks that were created, by number.
        var births: [UInt64: TaskBirth] = [:]
        var record = ScheduleRecord()
        /// Whether the order is noted.
        let comparesOrder: Bool
        var order = StepOrder()
        var trace: ScheduleTrace?
        /// Whether the run has ended.
        var isClosed = false
        /// Whether the jobs never run again.
        var isAbandoned = false
    }

    /// The reason why `run` returned.
    enum Ending: Sendable {
        case finished, stuck, endless
        /// The next job ends the process.
        case fatal
    }

    let state: Lock<State>
    // Only the thread that has the turn accesses the memory, except for a comparison of the address.
    nonisolated(unsafe) let thread: UnsafeMutablePointer<SchedulesThread>
    private let main = MainActorExecutor()
    private let paused = PausedExecutor()
    private let number: UInt64
    private let mayCancel: Bool
    /// Whether jobs can be interrupted.
    private let interruptsJobs: Bool
    /// The threads of the jobs that have begun and wait, by the numbers of the jobs.
    // Only the exploring thread accesses the dictionary.
    nonisolated(unsafe) var workers: [Int: OpaquePointer] = [:]

    /// - Parameter thread: The exploration of the calling thread.
    init(
        _ chooser: Chooser, _ number: UInt64, on thread: UnsafeMutablePointer<SchedulesThread>, isTraced: Bool,
        comparesOrder: Bool
    ) {
        self.number = number
        (mayCancel, interruptsJobs) = (chooser.mayCancel, chooser.interruptsJobs)
        state = Lock(State(chooser: chooser, comparesOrder: comparesOrder, trace: isTraced ? ScheduleTrace() : nil))
        self.thread = thread
        main.run = self
        paused.run = self
        thread.pointee.run = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // The types are an identity and an implementation.
        thread.pointee.taskExecutor = unsafeBitCast(asUnownedTaskExecutor(), to: SchedulesExecutor.self)
        thread.pointee.mainExecutor = unsafeBitCast(main.asUnownedSerialExecutor(), to: SchedulesExecutor.self)
        thread.pointee.pausedExecutor = unsafeBitCast(paused.asUnownedSerialExecutor(), to: SchedulesExecutor.self)
        (thread.pointee.elapsed, thread.pointee.foreignWork, thread.pointee.jobs) = (0, 0, 0)
        // Jobs of an earlier run that wait for each other never end.
        (thread.pointee.wantedLock, thread.pointee.unlocks, thread.pointee.startedJobs) = (nil, 0, 0)
        thread.pointee.created = { ScheduleRun.current.noteBirth(of: $0, $1, TaskBirth($1, name: $2, callers: $3)) }
        thread.pointee.perform = { job in
            taskOperationsSetRunNumber(ScheduleRun.current.number)
            ScheduleRun.current.perform(job.load(as: ReadyJob.self))
        }
        thread.pointee.switching = isTraced ? { ScheduleRun.current.traceSwitch($0, $1, $2) } : nil
        thread.pointee.enqueue = { ScheduleRun.current.takeGlobal(unsafeBitCast($0, to: UnownedJob.self), $1) }
    }

    /// The run of the calling thread, which explores. The exploration retains the run until the next one begins.
    static var current: ScheduleRun {
        Unmanaged<ScheduleRun>.fromOpaque(schedulesCurrent()!.pointee.run!).takeUnretainedValue()
    }

    /// The choices that were made, and the observations about them.
    var record: ScheduleRecord {
        state.withLock { state in
            var record = state.record
            record.stepCounts = state.chooser.stepCounts
            record.order = state.order.number
            return record
        }
    }

    /// The events of the run; nil if it is not traced.
    var trace: ScheduleTrace? {
        state.withLock { state in
            state.trace?.births = state.births
            return state.trace
        }
    }

    /// Whether tasks of the run have not ended, other than children.
    var hasLivingTasks: Bool {
        state.withLock { $0.births }.contains { number, birth in
            UnsafeRawPointer(bitPattern: birth.address).map { TaskDump.isLiving($0, number: number) } ?? false
        }
    }

    /// Whether a task was created in the run.
    func hasCreated(_ task: UInt64) -> Bool { state.withLock { $0.births[task] != nil } }

    /// The number of steps, and the task that runs now; nil between steps.
    var progress: (steps: Int, task: UInt64?) { state.withLock { ($0.record.widths.count, $0.running?.task) } }

    /// The job that runs now; nil between steps.
    var runningJob: RunningJob? {
        state.withLock { state in
            guard let job = state.running else { return nil }
            return RunningJob(
                isFirstTask: job.task == state.firstTask, birth: state.births[job.task],
                function: state.runningFunction)
        }
    }

    /// Stops the thread before the next step, forever: the test has ended without it.
    func abandon() { state.withLock { $0.isAbandoned = true } }

    /// Ends the run. Its tasks belong to later runs, or never continue if the body has not finished.
    func close(isFinished: Bool) {
        endJobs()
        state.withLock { state in
            state.ready = ReadyJobs()
            (state.delayed, state.arrivals) = (DelayedJobs(), [:])
            (state.timers, state.isClosed) = (Timers(), true)
            state.isAbandoned = state.isAbandoned || !isFinished
        }
    }

    /// Removes the limit of steps that follows a cancellation, so that the body can be ended.
    func forgetCancellation() { state.withLock { $0.lastStep = .max } }

    /// Returns the tasks that the run has retained.
    func takeTasks() -> [CreatedTask] {
        state.withLock { state in
            defer { state.candidates = [:] }
            return Array(state.candidates.values)
        }
    }

    private func noteBirth(of task: UInt64, _ object: UnsafeRawPointer?, _ birth: TaskBirth) {
        let creator = schedulesCurrentTask()
        state.withLock { state in
            state.births[task] = birth
            if state.chooser.mayCancel { state.noteCandidate(task, object, of: creator) }
            // The job of a task that is isolated to an actor with an executor of its own does not pass the run.
            state.trace?.noteCreation(of: task)
        }
    }

    private func traceSwitch(_ task: UInt64, _ resume: UnsafeRawPointer?, _ actor: UnsafeRawPointer?) {
        // The task that enters the actor retains the actor.
        let name = actor.map { "\(type(of: Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()))" }
        let isMain = actor == thread.pointee.mainExecutor.identity
        state.withLock {
            $0.trace?.noteSwitch(of: task, resume, to: isMain ? "MainActor" : name, isMain ? nil : actor)
        }
    }
}

/// The choices of a schedule, and the observations about it.
struct ScheduleRecord: Sendable {
    /// The number of steps of each task; empty if they were not counted.
    var stepCounts: [Int] = []
    /// The number of ready jobs at each step, with the delayed ones.
    var widths: [Int] = []
    /// A number that equal orders of steps have.
    var order: UInt64 = 0
    /// The numbers of the states before the steps.
    var states: [UInt64] = []
    /// The places of the jobs that a strategy chose at each step; -1 if it chose the first job.
    var places: [Int] = []
    /// Whether the strategy chose another job than the first one at any step.
    var hasChoices: Bool { places.contains { $0 >= 0 } }
    /// The changes that had an effect.
    var changes: [Change] = []
    /// The number of jobs that other threads caused.
    var arrivals = 0
    /// Whether the test's task was cancelled; nil if no task was.
    var cancelsTest: Bool? {
        let tasks = changes.compactMap { if case .cancellation(let task) = $0.kind { task } else { nil } }
        return tasks.isEmpty ? nil : tasks.contains(1)
    }
    /// Whether the time moved before the answer of a thread or block of Dispatch that the code had begun.
    var movesBeforeAnswer = false
}

// MARK: - Running jobs

extension ScheduleRun {
    /// Runs jobs until none is left.
    ///
    /// - Parameters:
    ///   - stepLimit: The number of steps after which the program counts as endless.
    ///   - patience: The real time to wait for other threads if no job is left and the body has not finished.
    ///   - answerPatience: The same if a deadline is left, and the body has begun work of another thread.
    ///   - isFinished: Returns whether the body has finished.
    func run(stepLimit: Int, patience: Duration, answerPatience: Duration, isFinished: () -> Bool) -> Ending {
        // Tasks that the body has left behind may sleep repeatedly, without an end.
        var remainingTimers = 100
        var blockedPatience = patience
        while true {
            while let next = state.withLock({ $0.next(stepLimit, on: thread) }) {
                thread.pointee.jobs += 1
                if thread.pointee.jobs == thread.pointee.fatalJob {
                    state.withLock { $0.running = nil }
                    return .fatal
                }
                if interruptsJobs { performOnWorker(next) } else { perform(next) }
            }
            while state.withLock({ $0.isAbandoned }) { schedulesSleep(3_600_000_000_000) }
            let (isReady, isOver) = state.withLock {
                ($0.readyCount > 0, $0.record.widths.count >= min(stepLimit, $0.lastStep))
            }
            if isReady {
                if isOver {
                    endJobs()
                    return .endless
                }
                // Another thread has added a job meanwhile.
                continue
            }
            if interruptsJobs {
                if resumeBlocked(blockedPatience) { continue }
                blockedPatience = .zero
            }
            if isFinished() {
                remainingTimers -= 1
                if remainingTimers < 0 { return .finished }
            } else if waitForAnswer(answerPatience) {
                continue
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

    /// Waits for an answer of other threads that take part, which precedes the end of a sleep. Returns false if none
    /// arrives, or if nobody sleeps.
    private func waitForAnswer(_ patience: Duration) -> Bool {
        let begun = thread.pointee.foreignWork
        let (arrivals, sleeps) = state.withLock { (Int64($0.record.arrivals), !$0.timers.isEmpty) }
        guard sleeps, arrivals > 0 || begun > 0 else { return false }
        if begun <= arrivals { return waitForArrival(.milliseconds(2)) }
        if waitForArrival(patience) { return true }
        thread.pointee.foreignWork = arrivals
        state.withLock { $0.record.movesBeforeAnswer = true }
        return false
    }

    func perform(_ next: ReadyJob) {
        if mayCancel { state.withLock { $0.takeCancellation() }?.cancel() }
        thread.pointee.switchingTask = 0
        if next.isMain {
            // With the preferred executor. Otherwise, a change from the main actor to itself would suspend the task.
            next.job.runSynchronously(
                isolatedTo: main.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        } else if next.begins {
            begin(next, on: next.entry!.target)
        } else {
            if let entry = next.entry { thread.pointee.resuming = entry }
            next.job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Lets a new task enter its actor.
    private func begin(_ next: ReadyJob, on actor: SchedulesExecutor) {
        if thread.pointee.switching != nil { traceSwitch(next.task, nil, actor.identity) }
        thread.pointee.switchingTask = next.task
        schedulesEnqueue(next.job.pointer, actor)
    }

    /// Waits until another thread adds a job. Returns false if none does in time.
    private func waitForArrival(_ patience: Duration) -> Bool {
        wait(patience) { state.withLock { $0.readyCount > 0 } }
    }

    /// Waits until a condition holds. Returns false if it does not hold in time.
    func wait(_ patience: Duration, until condition: () -> Bool) -> Bool {
        var pause = Duration.microseconds(20)
        var waited = Duration.zero
        while waited < patience {
            schedulesSleep(Int64(pause / .nanoseconds(1)))
            if condition() { return true }
            waited += pause
            pause = min(pause * 2, .milliseconds(5))
        }
        return false
    }
}

extension ScheduleRun.State {
    /// Removes and returns the next job; nil if none is ready or the limit is reached.
    ///
    /// - Parameter thread: Receives the virtual time, and the point at which the job is interrupted.
    fileprivate mutating func next(_ stepLimit: Int, on thread: UnsafeMutablePointer<SchedulesThread>) -> ReadyJob? {
        // A task that enters an idle actor continues at once, in the same step.
        if let actor = entered {
            entered = nil
            return actor
        }
        let (step, width) = (record.widths.count, readyCount)
        guard width > 0, !isAbandoned, step < min(stepLimit, lastStep) else {
            running = nil
            return nil
        }
        (thread.pointee.points, thread.pointee.interruption) = (0, 0)
        if let last = record.widths.last, width < last { idleSteps = 0 }
        idleSteps += 1
        if chooser.causesChanges || delayed.count > 0 || isPolling {
            thread.pointee.interruption = Int64(makeChanges(at: step))
        } else if comparesOrder {
            noteState()
        }
        let place = ready.count > 1 ? chooser.choose(at: step, among: &ready) : ready.first
        let isFirst = ready.count == 1 || place == ready.first
        record.places.append(isFirst ? -1 : place)
        if chooser.isRepeating { noteDelays(before: place, at: step) }
        let next = ready.remove(at: place)
        thread.pointee.elapsed = timers.now
        if chooser.isRepeating { endDelay(of: next, at: step) }
        if next.begins { releaseArrivals(at: UInt(bitPattern: next.entry!.target.identity)) }
        if comparesOrder { order.noteStep(of: next, at: timers.now) }
        trace?.noteStep(step, next.task, isMain: next.isMain, at: timers.now)
        record.widths.append(width)
        running = next
        runningFunction = UInt(bitPattern: next.entry?.resume ?? schedulesFunction(next.job.pointer))
        return next
    }

    /// Makes a job ready that is about to enter an actor. Arrivals on an actor keep their order, so the job waits for
    /// the tasks that were created earlier on this actor, unless it has a higher priority.
    mutating func addArrival(_ job: ReadyJob, _ entry: SchedulesSwitch, isNext: Bool) {
        let actor = UInt(bitPattern: entry.target.identity)
        if arrivals.isEmpty ? !job.begins : !(arrivals[actor].map { $0.holds(job) } ?? job.begins) {
            return ready.add(job, isNext: isNext)
        }
        if arrivals[actor, default: Arrivals()].add(job) { ready.add(job, isNext: true) }
    }

    /// Makes the arrivals ready that have waited for the task that begins.
    private mutating func releaseArrivals(at actor: UInt) {
        guard let jobs = arrivals[actor]?.removeFirst() else { return }
        for job in jobs.reversed() { ready.add(job, isNext: true) }
        if arrivals[actor]!.isEmpty { arrivals[actor] = nil }
    }

    /// Notes one number for the steps so far and the waiting jobs. A schedule with one more delay begins to differ here.
    private mutating func noteState() {
        guard comparesOrder else { return }
        var jobs: [ReadyJob] = []
        ready.forEach { jobs.append($0) }
        let waiting = arrivals.values.reduce(0) { $0 &+ order.number(of: $1.jobs) }
        let lists = [jobs, ready.mainJobs, delayed.jobs.map(\.job), timers.jobs]
        record.states.append(lists.reduce(order.number &+ waiting) { $0 &* 31 &+ order.number(of: $1) })
    }

    /// The number of ready jobs, with the delayed ones.
    fileprivate var readyCount: Int { ready.count + delayed.count }

    /// Makes the changes that precede a step. At least one job is ready afterwards. Returns the point at which the job
    /// is interrupted; 0 if it is not.
    private mutating func makeChanges(at step: Int) -> Int {
        var interruption = chooser.interruption(at: step)
        while let change = chooser.change(at: step) {
            switch change.kind {
            case .delay(let end):
                guard ready.count > 0, readyCount > 1 else { continue }
                let job = ready.remove(at: ready.first)
                trace?.note(.delay(task: job.task, until: end))
                delayed.add(job, until: end)
                record.changes.append(change)
            case .timePasses: moveTime(at: step)
            case .cancellation(let number): cancel(number)
            case .interruption(let point): interruption = point
            }
        }
        noteState()
        if !timers.isEmpty, chooser.movesTime(at: step) { moveTime(at: step) }
        if step == chooser.cancellationStep, let number = chooser.chooseTask(among: candidates.keys.sorted()) {
            cancel(number)
        }
        if isPolling { endPolling() }
        if delayed.isEmpty { return interruption }
        // Jobs of the main actor keep their order.
        if let end = delayed.mainEnd {
            while ready.count > 0, ready.isFirstMain { delayed.add(ready.remove(at: ready.first), until: end) }
        }
        for job in delayed.remove(until: step).reversed() { ready.putBack(job) }
        if ready.count == 0 { ready.putBack(delayed.removeFirst()) }
        return interruption
    }

    /// Moves the time to the next deadline, and makes its jobs the next ones.
    private mutating func moveTime(at step: Int) {
        let jobs = timers.advance()
        if jobs.isEmpty { return }
        trace?.note(.timePasses(to: timers.now))
        for job in jobs.reversed() { ready.add(job, isNext: true) }
        record.changes.append(Change(step: step, .timePasses))
    }

    /// Cancels a task before the next job that begins.
    private mutating func cancel(_ number: Int) {
        if let task = candidates[number] { cancelled = (number, task) }
    }

    /// Returns the task to cancel before the running job begins.
    fileprivate mutating func takeCancellation() -> CreatedTask? {
        guard let (number, task) = cancelled else { return nil }
        cancelled = nil
        let step = record.widths.count - 1
        lastStep = step + 10_000
        trace?.noteCancellation(of: task.number)
        record.changes.append(Change(step: step, .cancellation(task: number)))
        return task
    }

    /// Gives a task a number.
    mutating func noteCreation(of task: UInt64) {
        if created[task] == nil { created[task] = created.count + 1 }
    }

    /// - Parameters:
    ///   - object: The task; nil if it is a child.
    ///   - creator: The number of the task that creates it.
    fileprivate mutating func noteCandidate(_ task: UInt64, _ object: UnsafeRawPointer?, of creator: UInt64) {
        noteCreation(of: task)
        guard let object, task == firstTask || creator == firstTask else { return }
        candidates[created[task]!] = CreatedTask(number: task, object)
    }

    /// Whether all ready tasks wait in loops. Each of many tasks may yield several times.
    private var isPolling: Bool { idleSteps >= 1_000 && idleSteps >= 16 * readyCount }

    /// Ends a delay, or moves the time, for tasks that wait in loops, for example until a clock shows a time.
    private mutating func endPolling() {
        idleSteps = 0
        if let running { chooser.notePolling(of: running.task) }
        if !delayed.isEmpty { return ready.putBack(delayed.removeFirst()) }
        if advance() == nil { timers.pass() }
    }

    /// Describes a choice that a chooser repeats: the jobs before it wait until they are chosen.
    private mutating func noteDelays(before place: Int, at step: Int) {
        ready.forEach(before: place) { job in
            guard delayIndices[job.number] == nil else { return }
            delayIndices[job.number] = record.changes.count
            record.changes.append(Change(step: step, .delay(until: .max)))
        }
    }

    private mutating func endDelay(of job: ReadyJob, at step: Int) {
        guard let index = delayIndices.removeValue(forKey: job.number) else { return }
        record.changes[index].kind = .delay(until: step)
    }

    /// Advances the time to the next deadline, and makes its jobs ready. Returns the time in nanoseconds; nil if there
    /// is no deadline.
    fileprivate mutating func advance() -> Int64? {
        let jobs = timers.advance()
        for job in jobs { ready.add(job) }
        return jobs.isEmpty ? nil : timers.now
    }
}

/// A task that an exploration may cancel. It can end before.
// Sendable: any thread may retain, release and cancel a task.
struct CreatedTask: @unchecked Sendable {
    /// The number that the runtime gave to the task.
    let number: UInt64
    private let object: AnyObject

    /// - Parameter object: The task. The caller has a reference to it.
    init(number: UInt64, _ object: UnsafeRawPointer) {
        self.number = number
        self.object = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
    }

    func cancel() { schedulesCancel(Unmanaged.passUnretained(object).toOpaque()) }
}
