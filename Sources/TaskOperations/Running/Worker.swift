/// A task that runs one operation of a queue after the other, as long as the queue gives it a permit.
///
/// A task of its own for every operation would cost more than all the rest (on the 2-core machine of the README,
/// 950 ns for an empty operation instead of 390). So bodies of the same priority share a task. A worker whose task was
/// cancelled or escalated for one operation runs no other operation.
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
        case .pool, .mainActor:
            Task.detached(name: scheduler.queueName, priority: level.taskPriority) { await worker.run() }
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

    func start(on executor: any TaskExecutor) {
        Task.detached(name: scheduler.queueName, executorPreference: executor, priority: level.taskPriority) {
            await self.run()
        }
    }
}

// MARK: - Running

extension Worker {
    /// Whether it can run in a task of this level that is where bodies of the queue run.
    func canRun(at level: PriorityLevel) -> Bool {
        if case .executor = scheduler.place { return false }
        return level == self.level
    }

    @concurrent
    func run() async {
        let isInline = InlineJobs.isStarting(ObjectIdentifier(self))
        runner.begin()
        if case .mainActor = scheduler.place {
            await runOperationsOnMainActor()
        } else {
            await runOperations(isInline: isInline)
        }
        if runner.end() { await runner.waitUntilUnused() }
    }

    /// Runs operations on the main actor, and takes each one there: code of the main actor that cancels an operation
    /// before its body begins finds that it has not started.
    @MainActor
    private func runOperationsOnMainActor() async {
        var slice = makeSlice(false)
        var step = begin()
        while true {
            switch step {
            case .run(let started):
                step = finish(started, await scheduler.run(started.operation, on: runner), &slice)
            case .yield:
                await Task.yield()
                slice = makeSlice(false)
                step = begin()
            case .leave: return
            }
        }
    }

    @concurrent
    private func runOperations(isInline: Bool) async {
        let isPlain = scheduler.runsPlainly
        var slice = makeSlice(isInline)
        var step = begin()
        while true {
            switch step {
            case .run(let started):
                if let executor = started.executor {
                    step = await withTaskExecutorPreference(executor) {
                        await runOperations(from: started, on: executor, &slice)
                    }
                } else {
                    let operation = started.operation
                    let outcome =
                        await isPlain
                        ? operation.run(on: runner, isolation: nil) : scheduler.run(operation, on: runner)
                    step = finish(started, outcome, &slice)
                }
            case .yield:
                await Task.yield()
                slice = makeSlice(false)
                step = begin()
            case .leave: return
            }
        }
    }

    /// Runs operations for as long as they run on one executor. Returns the step after these.
    @concurrent
    private func runOperations(
        from first: Scheduler.StartedOperation, on executor: any TaskExecutor, _ slice: inout TimeSlice
    ) async -> Scheduler.WorkerStep {
        var started = first
        while true {
            let step = finish(started, await scheduler.run(started.operation, on: runner), &slice)
            guard case .run(let next) = step, next.executor === executor else { return step }
            started = next
        }
    }

    /// On an executor that runs jobs inline no other task can run: the worker would continue deeper in the stack.
    private func makeSlice(_ isInline: Bool) -> TimeSlice {
        TimeSlice(of: self, decider: scheduler.sliceDecider, isEndless: isInline)
    }

    // Not inlined: an async function allocates every temporary on its task, 17 of them here, which made an empty operation
    // a third more expensive.

    @inline(never)
    private func begin() -> Scheduler.WorkerStep { escalated(scheduler.workerBegan(self)) }

    @inline(never)
    private func finish(
        _ started: borrowing Scheduler.StartedOperation, _ outcome: Outcome?, _ slice: inout TimeSlice
    ) -> Scheduler.WorkerStep {
        escalated(scheduler.finish(started, outcome, on: self, isSliceOver: slice.isOver()))
    }

    /// Raises the worker's task if its next operation needs that.
    @inline(__always)
    private func escalated(_ step: Scheduler.WorkerStep) -> Scheduler.WorkerStep {
        if case .run(let started) = step, let level = started.escalation { runner.escalate(to: level) }
        return step
    }
}
