internal import CExploration
internal import Dispatch
internal import Glibc

/// The memory model of the atomic variables in an exploration.
public enum MemoryModel: Sendable {
    /// Each load returns the last store, regardless of the orderings.
    case sequential
    /// A load may return any store that the orderings allow.
    case weak
}

/// Runs the threads of one schedule, one at a time.
///
/// A thread stops before each step that other threads can observe: taking a lock, accessing an atomic variable, or
/// waiting. Then the strategy chooses the thread that takes the next step. A thread does not stop before it releases a
/// lock: any step of another thread between the release and the thread's next step is also possible after the thread
/// has announced that step.
final class Turnstile: @unchecked Sendable {
    // Only the thread that has the turn uses this state. Before the start and after the end, only the exploring thread
    // does.

    /// The number of the schedule, unique in the process.
    let identity: Int
    let memory: MemoryModel
    private let strategy: any Strategy
    private let stepLimit: Int
    private let completed = DispatchSemaphore(value: 0)

    /// The threads that have not ended, in the order of creation.
    private(set) var threads: [ControlledThread] = []
    private var threadCount = 0
    private(set) var current: ControlledThread!
    private var options: [ControlledThread] = []
    private var numbers: [Int] = []
    /// The views of the ended threads.
    private var ended = View()
    /// The view of each suspended task at its suspension, by the address of the task.
    private var suspended: [UInt: View] = [:]
    /// The jobs of the main actor that have not begun, in the order in which they were enqueued.
    private var mainJobs: [(task: UInt, view: View, run: () -> Void)] = []
    private var hasMainThread = false
    /// The view of the main actor at the end of its previous thread.
    private var mainView = View()
    /// The virtual time since the start of the schedule.
    private(set) var now = Duration.zero
    var objectCount = 0

    private(set) var stepCount = 0
    private(set) var choices = Choices()
    var report: ScheduleReport

    private let weakened: WeakenedOrdering?
    /// The orderings that were used, by their places.
    private(set) var orderings: [OrderingSite: OrderingParts] = [:]

    init(
        identity: Int, strategy: any Strategy, memory: MemoryModel, weakened: WeakenedOrdering?, stepLimit: Int,
        keepsTrace: Bool
    ) {
        self.weakened = weakened
        self.identity = identity
        self.strategy = strategy
        self.memory = memory
        self.stepLimit = stepLimit
        report = ScheduleReport(keepsTrace: keepsTrace)
    }

    /// Runs a schedule, which begins with one thread.
    func run(_ body: @escaping () -> Void) {
        let main = makeThread("main", body)
        current = main
        passTurn(to: main)
        var steps = 0
        // No schedule depends on this time. It only ends a process that would otherwise wait forever.
        while completed.wait(timeout: .now() + 30) == .timedOut {
            if stepCount == steps {
                fatalError(
                    """
                    \(describe(current)) blocks outside of the turnstile, or runs for ever, after \(stepCount) steps. \
                    Choices: \(choices)
                    \(states)
                    """)
            }
            steps = stepCount
        }
        // A thread retains its turnstile. Each schedule would otherwise leave 10 KB.
        (current, options) = (nil, [])
    }

    /// Ends the schedule after its last thread has ended.
    func complete() { completed.signal() }
}

// MARK: - Threads

extension Turnstile {
    @discardableResult
    func makeThread(_ name: String, _ body: @escaping () -> Void) -> ControlledThread {
        let thread = ControlledThread(self, number: threadCount, name: name, body: body)
        threadCount += 1
        threads.append(thread)
        if memory == .weak, let current {
            _ = current.view.makeEvent(of: current.number)
            thread.view = current.view
        }
        return thread
    }

    /// Makes the system run the thread that has the turn.
    func passTurn(to next: ControlledThread) {
        if next.host == nil { next.host = HostThread.take() }
        next.host!.give(next)
    }

    /// Ends the current thread. Returns the thread that has the turn next; nil if no thread is left.
    func end(_ thread: ControlledThread) -> ControlledThread? {
        threads.remove(at: threads.firstIndex { $0 === thread }!)
        if memory == .weak { ended.join(thread.view) }
        if threads.isEmpty { return nil }
        guard let next = pick(canContinue: false) else { return nil }
        take(next)
        return next
    }

    /// Announces the next step of the current thread, and takes the step when the thread has the turn again.
    func reach(_ step: ControlledThread.Step) {
        let thread = current!
        thread.step = step
        guard let next = pick(canContinue: true) else { return block() }
        if next !== thread {
            take(next)
            passTurn(to: next)
            thread.host!.waitForTurn()
        } else {
            take(thread)
        }
    }

    /// Blocks a thread of an abandoned schedule.
    private func block() {
        let host = current.host!
        completed.signal()
        while true { host.waitForTurn() }
    }

    /// Performs the step of the thread that has the turn.
    private func take(_ thread: ControlledThread) {
        current = thread
        switch thread.step {
        case .acquire(let lock):
            lock.owner = thread
            thread.held.append(lock)
            if memory == .weak { thread.view.join(lock.view) }
        case .wait(_, let deadline):
            thread.condition = nil
            if !thread.isNotified, let deadline { now = max(now, deadline) }
        case .fire(let moment): now = max(now, moment)
        case .quiet: if memory == .weak { thread.view.join(ended) }
        default: break
        }
        record(thread)
        // The step must not retain the object after the call that uses it. Otherwise the object's value would be
        // released late.
        thread.step = .pause
    }

    /// Releases a lock of the current thread.
    func release(_ lock: SharedObject) {
        let thread = current!
        lock.owner = nil
        thread.held.remove(at: thread.held.lastIndex { $0 === lock }!)
        if memory == .weak {
            _ = thread.view.makeEvent(of: thread.number)
            lock.view = thread.view
        }
    }

    /// Waits for a mutex of the C library that another thread holds, such as the lock with which the runtime protects
    /// the status of a task while it calls a cancellation handler. Returns false if no thread of the schedule holds it.
    func wait(for mutex: UnsafeMutablePointer<pthread_mutex_t>, heldBy identifier: CInt) -> Bool {
        let thread = current!
        let owner = threads.first { $0 !== thread && $0.host?.identifier == identifier }
        guard let owner else { return false }
        reach(.mutex(mutex))
        if memory == .weak { thread.view.join(owner.view) }
        return true
    }

    /// Wakes one thread, or all threads, that wait for a condition.
    func notify(_ condition: SharedObject, all: Bool) {
        for thread in threads {
            if thread.condition === condition, !thread.isNotified {
                thread.isNotified = true
                if !all { return }
            }
        }
    }
}

// MARK: - Choices

extension Turnstile {
    /// Chooses the thread that gets the turn next; nil if the schedule ends.
    private func pick(canContinue: Bool) -> ControlledThread? {
        stepCount += 1
        if stepCount > stepLimit { return abandon("The schedule has more than \(stepLimit) steps.") }
        collectOptions(canContinue ? current : nil)
        if options.isEmpty { return abandon("No thread can run.") }
        if options.count == 1 { return options[0] }
        let continues = canContinue && options[0] === current
        numbers.removeAll(keepingCapacity: true)
        for option in options { numbers.append(option.number) }
        let index = strategy.pickThread(numbers, continues: continues)
        choices.append(index)
        return options[index]
    }

    /// Ends the schedule with a failure.
    private func abandon(_ reason: String) -> ControlledThread? {
        fail("\(reason)\n\(states)")
        return nil
    }

    /// Records a signal of the current thread that would end the process.
    func crash(_ signal: Int32) {
        fail("The process would end here (signal \(signal)).\n\(states)")
        completed.signal()
    }

    /// The thread that holds a lock. A thread of an earlier, abandoned schedule does not count.
    private func owner(of lock: SharedObject) -> ControlledThread? {
        lock.owner.flatMap { $0.turnstile === self ? $0 : nil }
    }

    /// Collects the threads that can run: the current thread first, then the others in their order.
    private func collectOptions(_ current: ControlledThread?) {
        options.removeAll(keepingCapacity: true)
        if let current, canRun(current) { options.append(current) }
        var yielding: ControlledThread?
        var earliest: (moment: Duration, thread: ControlledThread)?
        for thread in threads {
            if let moment = deadline(of: thread), moment < earliest?.moment ?? .seconds(Int64.max) {
                earliest = (moment, thread)
            }
            if case .yield = thread.step { yielding = yielding ?? thread }
            if thread !== current, canRun(thread) { options.append(thread) }
        }
        // Time passes only if the strategy chooses it, or if no other thread can run.
        if let earliest { options.append(earliest.thread) }
        if options.isEmpty, let yielding { options.append(yielding) }
        if options.isEmpty, let waiting = threads.first(where: \.waitsForQuiet), !hasDeadlock {
            options.append(waiting)
        }
    }

    /// Whether a thread waits for a lock. Used if no thread can run.
    private var hasDeadlock: Bool {
        threads.contains { thread in
            switch thread.step {
            case .acquire, .mutex: true
            default: false
            }
        }
    }

    private func canRun(_ thread: ControlledThread) -> Bool {
        switch thread.step {
        case .start, .access, .pause: true
        case .acquire(let lock): owner(of: lock) == nil
        case .mutex(let mutex): explorationMutexOwner(mutex) == 0
        case .wait: thread.isNotified
        case .fire, .quiet: false
        case .yield: thread !== current
        }
    }

    private func deadline(of thread: ControlledThread) -> Duration? {
        switch thread.step {
        case .fire(let moment): moment
        case .wait(_, let moment): thread.isNotified ? nil : moment
        default: nil
        }
    }

    /// Chooses a number below a bound. 0 is the usual choice.
    func pickValue(below count: Int) -> Int {
        if count <= 1 { return 0 }
        let value = strategy.pickValue(below: count)
        choices.append(value)
        return value
    }
}

// MARK: - Jobs

extension Turnstile {
    /// Creates a thread for a job of a task.
    func addJob(_ task: UInt, _ run: @escaping () -> Void) {
        let thread = makeThread("job") { [unowned self] in
            run()
            if memory == .weak { suspended[task] = current.view }
        }
        if memory == .weak, let view = suspended[task] { thread.view.join(view) }
    }

    /// Adds a job of the main actor. A single thread runs these jobs until none is left.
    func addMainJob(_ task: UInt, _ run: @escaping () -> Void) {
        if memory == .weak { _ = current.view.makeEvent(of: current.number) }
        mainJobs.append((task, current.view, run))
        if hasMainThread { return }
        hasMainThread = true
        makeThread("main actor") { [unowned self] in runMainJobs() }
    }

    private func runMainJobs() {
        if memory == .weak { current.view.join(mainView) }
        while !mainJobs.isEmpty {
            let job = mainJobs.removeFirst()
            if memory == .weak {
                current.view.join(job.view)
                if let view = suspended[job.task] { current.view.join(view) }
            }
            job.run()
            if memory == .weak { suspended[job.task] = current.view }
            reach(.pause)
        }
        mainView = current.view
        hasMainThread = false
    }

    /// Creates a thread that fires at a point in time.
    ///
    /// - Returns: The thread, for `removeTimer`.
    func addTimer(at moment: Duration, _ fire: @escaping () -> Void) -> ControlledThread {
        let thread = makeThread("timer", fire)
        thread.step = .fire(at: moment)
        return thread
    }

    /// Removes a timer that has not fired.
    func removeTimer(_ timer: ControlledThread) {
        if case .fire = timer.step, timer.host == nil { threads.removeAll { $0 === timer } }
    }

    /// The parts of an ordering, without the part that the exploration leaves out.
    func parts(of order: MemoryOrder) -> OrderingParts {
        orderings[order.site] = order.parts
        guard let weakened, weakened.site == order.site else { return order.parts }
        return order.parts.subtracting(weakened.without)
    }

    /// Whether an update takes two steps, because the exploration leaves out its atomicity.
    func splits(_ order: MemoryOrder) -> Bool { memory == .weak && !parts(of: order).contains(.atomic) }

    /// The current virtual time. Each reading advances the clock a little, so that code that measures time terminates.
    func readClock() -> Duration {
        now += .microseconds(200)
        return now
    }
}

extension ControlledThread {
    fileprivate var waitsForQuiet: Bool { if case .quiet = step { true } else { false } }
}
