internal import CTaskOperations
import Synchronization

/// A task that runs operations of a queue, one after the other, as long as the queue has a permit for the next one.
/// Then it may move to another queue, in which the end of its last operation has made an operation startable.
///
/// Bodies of the same priority share a task, because a separate task for each operation would more than double the cost
/// of an empty operation: Cost, "Measured reasons". A worker whose task was cancelled or escalated for one operation
/// runs no other operation.
final class Worker: BodyTask, @unchecked Sendable {
    // `level` is constant. Only the worker's task uses the other properties after the task was created, except `isWorn`.

    let level: PriorityLevel
    /// The queue for which the worker runs next; nil while it runs for a queue or has no other queue.
    // Not the queue for which it runs: a local variable of the task, which only the task can change, needs no reference
    // counting for each operation.
    @exclusivity(unchecked) private var next: Scheduler?
    /// The operation that `next` has started on the worker; nil if the worker has not begun to run.
    @exclusivity(unchecked) private var started: StartedOperation?
    @exclusivity(unchecked) private var slice = TimeSlice()
    /// Whether the task was cancelled or escalated for one operation, or soon will be. It then runs no other operation.
    // Accessed only under the lock of the queue for which the worker runs. Once it is true, the worker runs for no other.
    @exclusivity(unchecked) nonisolated(unsafe) var isWorn = false
    /// The time at which the last body began; nil if the queue was not observed then. Accessed like `isWorn`.
    @exclusivity(unchecked) nonisolated(unsafe) var beginning: Moment?
    /// The ticks at which the last body began; 0 if the queue was not recorded then. Accessed like `isWorn`.
    @exclusivity(unchecked) nonisolated(unsafe) var beginTicks: UInt64 = 0

    init(for scheduler: Scheduler, level: PriorityLevel) {
        next = scheduler
        self.level = level
        super.init()
    }

    /// Creates a worker and starts its task at a level.
    static func start(for scheduler: Scheduler, level: PriorityLevel) {
        let worker = Worker(for: scheduler, level: level)
        if let scope = scheduler.scopeWorkers { return scope.start(worker) }
        let name = scheduler.queueName
        switch scheduler.place {
        case .pool, .mainActor: Task.detached(name: name, priority: level.taskPriority) { await worker.run() }
        case .executor(let executor):
            InlineJobs.start(ObjectIdentifier(worker)) {
                Task.detached(name: name, executorPreference: executor, priority: level.taskPriority) {
                    await worker.run()
                }
            }
        }
    }

    /// Starts the worker in a child task of the calling task. If the queue has no executor, the child runs on the
    /// preferred executor of the task that opened the scope.
    // Not inlined, like `begin` below.
    @inline(never)
    func start(in group: inout DiscardingTaskGroup) {
        let scheduler = next!
        InlineJobs.startHere(ObjectIdentifier(self)) {
            switch scheduler.place {
            case .pool, .mainActor:
                group.addTask(name: scheduler.scopeWorkers?.childName, priority: level.taskPriority) {
                    await self.run()
                }
            case .executor(let executor):
                group.addTask(name: scheduler.queueName, executorPreference: executor, priority: level.taskPriority) {
                    await self.run()
                }
            }
        }
    }

    /// Lets the worker continue with an operation that another queue has started on it. The task calls this before it
    /// leaves its queue.
    func move(to scheduler: Scheduler, running started: StartedOperation) {
        (next, self.started) = (scheduler, started)
    }
}

// MARK: - Running

extension Worker {
    /// Whether the worker can run in a task of a level that already runs where bodies of the queue run.
    func canRun(at level: PriorityLevel) -> Bool {
        if case .executor = next!.place { return false }
        return level == self.level
    }

    // This function and the next one are inlined in the tasks of workers: Cost, row 13. Rare branches are not inlined, so
    // that all frames of a plain worker fit into the first kilobyte of the task's stack, which is one allocation.
    @concurrent
    @inline(__always)
    func run() async {
        begin()
        await whileFound { await runOperations() }
        if end() { await waitUntilUnused() }
    }

    @concurrent
    @inline(__always)
    private func runOperations() async {
        while let scheduler = next.take() {
            if case .mainActor = scheduler.place {
                await runOperationsOnMainActor(of: scheduler)
                break
            }
            let isPlain = scheduler.runsPlainly
            var step = firstStep(in: scheduler, isInline: InlineJobs.isStarting(ObjectIdentifier(self)))
            running: while true {
                switch step {
                case .run(let started):
                    if started.executor == nil, isPlain {
                        if let level = started.escalation { escalate(to: level) }
                        step = finish(started, await started.operation.run(on: self), in: scheduler)
                    } else {
                        step = await runInPlace(started, in: scheduler)
                    }
                case .yield:
                    await Task.yield()
                    step = firstStep(in: scheduler)
                case .leave: break running
                }
            }
        }
    }

    /// Takes and runs operations on the main actor. Therefore code on the main actor can cancel an operation before its
    /// start until the body begins.
    @MainActor
    @inline(never)
    private func runOperationsOnMainActor(of scheduler: Scheduler) async {
        var step = firstStep(in: scheduler)
        while true {
            switch step {
            case .run(let started): step = await runInContext(started, in: scheduler)
            case .yield:
                await Task.yield()
                step = firstStep(in: scheduler)
            case .leave: return
            }
        }
    }

    /// Runs an operation that needs more than its body. If the operation has its own executor, also runs the following
    /// operations with the same executor.
    @concurrent
    @inline(never)
    private func runInPlace(
        _ first: StartedOperation, in scheduler: Scheduler
    ) async -> Scheduler.WorkerStep {
        guard let executor = first.executor else { return await runInContext(first, in: scheduler) }
        return await withTaskExecutorPreference(executor) {
            var step = await runInContext(first, in: scheduler)
            while case .run(let next) = step, next.executor === executor {
                step = await runInContext(next, in: scheduler)
            }
            return step
        }
    }

    /// Runs an operation with the task locals and interceptors of the queue, in the place of the queue.
    private func runInContext(
        _ started: StartedOperation, in scheduler: Scheduler
    ) async -> Scheduler.WorkerStep {
        if let level = started.escalation { escalate(to: level) }
        let operation = started.operation
        let outcome = await operation.withTaskLocals { await scheduler.runIntercepted(operation, on: self) }
        return finish(started, outcome, in: scheduler)
    }

    // The following functions are not inlined, because an async function allocates every temporary on its task.

    /// Takes the first operation of a queue. Begins a slice on the calling thread, unless the worker has just moved to
    /// the queue.
    ///
    /// If the executor runs jobs inline, the slice has no end: a yield would let no other task run, and the worker
    /// would only continue deeper in the stack.
    @inline(never)
    private func firstStep(in scheduler: Scheduler, isInline: Bool = false) -> Scheduler.WorkerStep {
        if let started = started.take() { return .run(started) }
        slice.begin(of: self, isEndless: isInline)
        return scheduler.workerBegan(self)
    }

    @inline(never)
    private func finish(
        _ started: borrowing StartedOperation, _ outcome: Outcome?, in scheduler: Scheduler
    ) -> Scheduler.WorkerStep {
        scheduler.finish(started, outcome, on: self, isSliceOver: slice.isOver(of: self, scheduler.sliceDecider))
    }
}

/// The time for which a worker runs bodies before it yields its thread to other tasks.
///
/// Bodies that do not suspend would otherwise keep a thread of the pool for as long as their queue has work. Reading
/// the clock is expensive (Cost, row 4). While bodies are short, it is therefore read only after 1, 2, 4 and so on up to 64
/// bodies.
///
/// A body that suspends frees the thread anyway, and the worker gets a new slice. An additional yield would increase
/// the cost of 256 concurrent bodies that sleep for a millisecond by half.
struct TimeSlice {
    /// The worker that began the last slice on a thread.
    private static let lastWorker = ThreadMark()

    private var isEndless = false
    private var start = Moment.origin
    private var stride = 1
    private var untilLook = 1

    /// Begins a slice on the calling thread.
    mutating func begin(of worker: Worker, isEndless: Bool = false) {
        self.isEndless = isEndless
        start = .now
        stride = 1
        untilLook = 1
        Self.lastWorker.set(to: ObjectIdentifier(worker))
    }

    /// Counts a body that has run. Returns whether the slice is over.
    ///
    /// - Parameter decider: Decides whether the slice is over, instead of the clock.
    @inline(__always)
    mutating func isOver(of worker: Worker, _ decider: (any SliceDecidingExecutor)?) -> Bool {
        if isEndless { return false }
        if let decider { return decider.isSliceOver() }
        untilLook -= 1
        return untilLook == 0 && isTimeUp(worker)
    }

    @inline(never)
    private mutating func isTimeUp(_ worker: Worker) -> Bool {
        // An exploration decides after each body which task continues. Its time does not move meanwhile.
        if taskOperationsRunNumber() != 0 { return true }
        if Moment.now - start >= .milliseconds(1) {
            // A worker that has kept its thread is the last worker that began a slice there. The same can hold for a
            // worker that left the thread and returned, if no other worker used it meanwhile. That worker yields
            // needlessly.
            if Self.lastWorker.isSet(to: ObjectIdentifier(worker)) { return true }
            begin(of: worker)
            return false
        }
        stride = min(stride * 2, 64)
        untilLook = stride
        return false
    }
}
