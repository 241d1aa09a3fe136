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
        let priority = level.taskPriority
        switch scheduler.place {
        case .pool, .mainActor:
            Task.detached(priority: priority) { await worker.run() }
        case .executor(let executor):
            Task.detached(executorPreference: executor, priority: priority) { await worker.run() }
        }
    }
}

// MARK: - Running

extension Worker {
    private func run() async {
        await runner.run { await runOperations() }
    }

    private func runOperations() async {
        var turn = Scheduler.Turn(slice: makeSlice())
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
            conclude(&turn, await isPlain ? operation.run(on: runner, isolation: nil) : scheduler.run(operation, on: runner))
            if turn.mustYield {
                await Task.yield()
                turn.slice = makeSlice()
                begin(&turn)
            }
        }
    }

    private func makeSlice() -> TimeSlice { TimeSlice(of: self, decider: scheduler.sliceDecider) }

    // Not inlined: in an async function every temporary is allocated on the task, 17 of them here, which made an
    // empty operation a third more expensive.

    @inline(never)
    private func begin(_ turn: inout Scheduler.Turn) {
        turn.mustYield = false
        scheduler.workerBegan(self, &turn)
        if let level = turn.escalation { runner.escalate(to: level) }
    }

    /// Carries out the end of the operation that ran.
    @inline(never)
    private func conclude(_ turn: inout Scheduler.Turn, _ outcome: Outcome?) {
        let operation = turn.operation.take()!
        defer { extendLifetime(operation) }
        let ending = operation.end(outcome)
        let release: Scheduler.Release = ending.isRunnerWorn ? .leaves : turn.slice.isOver() ? .yields : .goesOn
        if ending.hasLinks {
            ending.callHandlers(operation)
            var readied = Few<AnyTaskOperation>()
            ending.forEachDependent { dependent in
                guard let host = dependent.dependencyFinished(operation) else { return }
                if host === scheduler { readied.append(dependent) } else { host.readinessChanged(of: dependent) }
            }
            scheduler.finish(&turn, readied: readied, by: self, release)
            ending.resumeWaiters()
        } else if release != .goesOn || !scheduler.takeNext(&turn, on: self) {
            scheduler.finish(&turn, readied: Few(), by: self, release)
        }
        if let level = turn.escalation { runner.escalate(to: level) }
    }
}
