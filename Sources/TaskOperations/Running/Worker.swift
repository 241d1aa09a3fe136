/// A task that runs one operation of a queue after the other, as long as the queue gives it a permit.
///
/// A task of its own for every operation would cost more than all the rest (on the 2-core machine of the README,
/// 950 ns for an empty operation instead of 390). So bodies of the same priority share a task, unless that would
/// show: a worker whose task was cancelled or escalated for one operation runs no other.
final class Worker: Sendable {
    let level: PriorityLevel
    let runner = OperationRunner()
    private let scheduler: Scheduler

    init(for scheduler: Scheduler, level: PriorityLevel) {
        self.scheduler = scheduler
        self.level = level
    }

    /// Makes a worker whose task has a level, and lets it loose.
    static func start(for scheduler: Scheduler, level: PriorityLevel) {
        let worker = Worker(for: scheduler, level: level)
        if let scope = scheduler.scopeWorkers { return scope.start(worker) }
        switch scheduler.place {
        case .pool, .mainActor: Task.detached(priority: level.taskPriority) { await worker.run() }
        case .executor(let executor): InlineJobs.start(ObjectIdentifier(worker)) { worker.start(on: executor) }
        }
    }

    /// Makes the worker a child of the calling task. If the queue has no executor, it runs where the task that opened the
    /// scope prefers to.
    // Not inlined, as `begin` below.
    @inline(never)
    func start(in group: inout DiscardingTaskGroup) {
        InlineJobs.startHere(ObjectIdentifier(self)) {
            switch scheduler.place {
            case .pool, .mainActor:
                group.addTask(priority: level.taskPriority) { await self.run() }
            case .executor(let executor):
                group.addTask(executorPreference: executor, priority: level.taskPriority) { await self.run() }
            }
        }
    }

    func start(on executor: any TaskExecutor) {
        Task.detached(executorPreference: executor, priority: level.taskPriority) { await self.run() }
    }
}

// MARK: - Running

extension Worker {
    /// Whether it can run in a task of this level that is where bodies of the queue run.
    func canRun(at level: PriorityLevel) -> Bool {
        if case .executor = scheduler.place { return false }
        return level == self.level
    }

    func run() async {
        let isInline = InlineJobs.isStarting(ObjectIdentifier(self))
        await runner.run {
            if case .mainActor = scheduler.place {
                await runOperationsOnMainActor()
            } else {
                await runOperations(isInline: isInline)
            }
        }
    }

    /// Runs operations on the main actor, and takes each one there: code of the main actor that cancels an operation
    /// before its body begins finds that it has not started.
    @MainActor
    private func runOperationsOnMainActor() async {
        var turn = Scheduler.Turn(on: self, slice: makeSlice(false))
        begin(&turn)
        while let operation = turn.operation {
            conclude(&turn, await scheduler.run(operation, on: runner))
            if turn.mustYield { await yield(&turn) }
        }
    }

    private func runOperations(isInline: Bool) async {
        var turn = Scheduler.Turn(on: self, slice: makeSlice(isInline))
        begin(&turn)
        while turn.operation != nil {
            if let executor = turn.executor {
                await withTaskExecutorPreference(executor) { await runOperations(on: executor, &turn) }
            } else {
                await runOperations(on: nil, &turn)
            }
        }
    }

    /// Runs operations for as long as they want to run in the same place.
    @concurrent
    private func runOperations(on executor: (any TaskExecutor)?, _ turn: inout Scheduler.Turn) async {
        let isPlain = scheduler.runsPlainly
        while turn.executor === executor, let operation = turn.operation {
            conclude(
                &turn, await isPlain ? operation.run(on: runner, isolation: nil) : scheduler.run(operation, on: runner))
            if turn.mustYield { await yield(&turn) }
        }
    }

    private func yield(_ turn: inout Scheduler.Turn) async {
        await Task.yield()
        turn.slice = makeSlice(false)
        begin(&turn)
    }

    /// On an executor that runs jobs inline there is nobody to yield to: the worker would go on deeper in the stack.
    private func makeSlice(_ isInline: Bool) -> TimeSlice {
        TimeSlice(of: self, decider: scheduler.sliceDecider, isEndless: isInline)
    }

    // Not inlined: in an async function every temporary is allocated on the task, 17 of them here, which made an
    // empty operation a third more expensive.

    @inline(never)
    private func begin(_ turn: inout Scheduler.Turn) {
        scheduler.workerBegan(&turn)
        if let level = turn.escalation { runner.escalate(to: level) }
    }

    @inline(never)
    private func conclude(_ turn: inout Scheduler.Turn, _ outcome: Outcome?) {
        scheduler.conclude(&turn, outcome)
        if let level = turn.escalation { runner.escalate(to: level) }
    }
}
