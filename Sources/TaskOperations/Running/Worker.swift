/// A task that runs one operation of a queue after the other, as long as the queue gives it a permit.
///
/// A task of its own for every operation would cost more than all the rest (on the 2-core machine of the README,
/// 950 ns for an empty operation instead of 390). So bodies of the same priority share a task, unless that would
/// show: a worker whose task was cancelled or escalated for one operation runs no other.
final class Worker: OperationRunner {
    private struct Attachment: Sendable {
        var task: Task<Void, Never>?
        /// The worker's own task, where it began before it was attached.
        var waiting: CheckedContinuation<Void, Never>?
    }

    let level: PriorityLevel
    private let scheduler: Scheduler
    private let attachment = Lock(Attachment())

    private init(for scheduler: Scheduler, level: PriorityLevel) {
        self.scheduler = scheduler
        self.level = level
    }

    /// Makes a worker whose task has a level, and lets it loose.
    static func start(for scheduler: Scheduler, level: PriorityLevel) {
        let worker = Worker(for: scheduler, level: level)
        let priority = level.taskPriority
        switch scheduler.place {
        case .pool:
            worker.attach(Task.detached(priority: priority) { await worker.run() })
        case .executor(let executor):
            worker.attach(
                Task.detached(executorPreference: executor, priority: priority) { await worker.run() })
        case .mainActor:
            worker.attach(Task.detached(priority: priority) { await worker.runOnMainActor() })
        }
    }

    func cancel() {
        attachment.withLock { $0.task }?.cancel()
    }

    func escalate(to level: PriorityLevel) {
        attachment.withLock { $0.task }?.escalateIfAvailable(to: level.taskPriority)
    }
}

// MARK: - Attaching

extension Worker {
    private func attach(_ task: Task<Void, Never>) {
        let waiting = attachment.withLock { attachment in
            attachment.task = task
            return attachment.waiting
        }
        waiting?.resume()
    }

    /// Returns once `cancel` and `escalate` can reach the task.
    private func waitUntilAttached() async {
        if attachment.withLock({ $0.task != nil }) { return }
        await withCheckedContinuation { continuation in
            let isAttached = attachment.withLock { attachment in
                attachment.waiting = continuation
                return attachment.task != nil
            }
            if isAttached { continuation.resume() }
        }
    }
}

// MARK: - Running

extension Worker {
    @MainActor
    private func runOnMainActor() async { await run() }

    private func run() async {
        await waitUntilAttached()
        var slice = TimeSlice()
        var readied: [AnyTaskOperation] = []
        var next = scheduler.workerBegan(self)
        while let operation = next {
            switch await execute(operation, &slice, &readied) {
            case .operation(let following):
                next = following
            case .nothing:
                next = nil
            case .yield:
                await Task.yield()
                slice = TimeSlice()
                next = scheduler.workerBegan(self)
            }
        }
    }

    /// Runs an operation to its end and carries the end out. `readied` is empty before and after: it is only
    /// handed in so that its memory serves all operations of the worker.
    private func execute(
        _ operation: AnyTaskOperation, _ slice: inout TimeSlice, _ readied: inout [AnyTaskOperation]
    ) async -> Scheduler.Continuation {
        let failure = await scheduler.taskLocals.isEmpty ? operation.runBody() : operation.runBodyWithTaskLocals()
        let ending = operation.end(failure: failure)
        ending.callHandlers(operation)
        for dependent in ending.dependents {
            guard let host = dependent.dependencyFinished(operation) else { continue }
            if host === scheduler { readied.append(dependent) } else { host.readinessChanged(of: dependent) }
        }
        let release: Scheduler.Release = ending.isRunnerWorn ? .leaves : slice.isOver() ? .yields : .goesOn
        let continuation = scheduler.finish(operation, readied: readied, by: self, release)
        readied.removeAll(keepingCapacity: true)
        ending.resumeWaiters()
        return continuation
    }
}
