import TaskOperations
import TaskOperationsTesting

/// The fate of an operation whose body, handlers, outcome or waiters capture a hostile object.
enum HostilePhase: CaseIterable {
    case neverAdded, cancelledBeforeAdding, pending, cancelledPending, refusedTwice, refusedCycle, refusedByShutDown
    case executing, outcome, input, failure, waiter, cancelledWaiter, handler, cancellationHandler, barrier
    case semaphoreWaiter, scope, released

    func play(in scene: HostileScene, _ random: inout SeededGenerator) {
        let queue = scene.queues[random.number(below: scene.queues.count)]
        let capture = scene.capture(in: self, &random)
        switch self {
        case .neverAdded, .cancelledBeforeAdding, .pending, .cancelledPending, .executing, .failure, .barrier:
            playBody(on: queue, capture, in: scene)
        case .refusedTwice, .refusedCycle, .refusedByShutDown: playRefusal(on: queue, capture, in: scene)
        case .outcome, .input: playValue(on: queue, capture)
        case .waiter, .cancelledWaiter, .semaphoreWaiter, .scope: playWait(on: queue, capture, in: scene)
        case .handler, .cancellationHandler, .released: playHandler(on: queue, capture, in: scene)
        }
    }

    private func playBody(on queue: TaskOperationQueue, _ capture: Hostile, in scene: HostileScene) {
        let operation = TaskOperation<Void> { [gate = scene.gate] in
            if self == .executing { await gate.pass() }
            if self == .failure { throw CancellationError() }
            withExtendedLifetime(capture) {}
        }
        scene.keep(operation)
        switch self {
        case .neverAdded: operation.cancel()
        case .cancelledBeforeAdding:
            operation.cancel()
            try? queue.addOperation(operation)
        case .cancelledPending:
            try? operation.addDependency(TaskOperation {})
            try? queue.addOperation(operation)
            operation.cancel()
        case .barrier: try? queue.addBarrier(operation)
        default: try? queue.addOperation(operation)
        }
    }

    /// A refused addition or dependency, followed by every other use of the operation.
    private func playRefusal(on queue: TaskOperationQueue, _ capture: Hostile, in scene: HostileScene) {
        let operation = TaskOperation<Void> { withExtendedLifetime(capture) {} }
        let other = TaskOperation<Void>(dependencies: [operation]) {}
        switch self {
        case .refusedTwice: try? queue.addOperations([other, operation, other])
        case .refusedCycle: try? operation.addDependency(other)
        default:
            let closed = TaskOperationQueue(.init(executor: scene.executor))
            closed.shutDown()
            try? closed.addOperation(operation)
        }
        operation.priority = .high
        let dependent = queue.addOperation(dependencies: [operation]) {}
        dependent.addCompletionHandler {}
        let additions = [queue, scene.queues[0]].map { queue in Result { try queue.addOperation(operation) } }
        // Barriers that were added between the two additions may close a cycle. In that case, no queue will ever run
        // the operation.
        if additions.allSatisfy({ if case .failure = $0 { true } else { false } }) { operation.cancel() }
        try? queue.addOperation(other)
        other.cancel()
        scene.keep(operation)
    }

    private func playValue(on queue: TaskOperationQueue, _ capture: Hostile) {
        let first = queue.addOperation { capture }
        if self == .input { queue.addOperation(after: first) { capture in withExtendedLifetime(capture) {} } }
    }

    private func playWait(on queue: TaskOperationQueue, _ capture: Hostile, in scene: HostileScene) {
        if self == .semaphoreWaiter {
            let task = Task { [semaphore = scene.semaphore] in
                try await semaphore.withPermit { withExtendedLifetime(capture) {} }
            }
            return task.cancel()
        }
        if self == .scope {
            let task = Task { [executor = scene.executor] in
                try await withTaskOperationQueue(.init(executor: executor)) { scope in
                    scope.addOperation { withExtendedLifetime(capture) {} }
                }
            }
            return task.cancel()
        }
        let operation = queue.addOperation {}
        let task = Task {
            try await operation.value
            withExtendedLifetime(capture) {}
        }
        if self == .cancelledWaiter { task.cancel() }
    }

    private func playHandler(on queue: TaskOperationQueue, _ capture: Hostile, in scene: HostileScene) {
        switch self {
        case .handler:
            let operation = TaskOperation<Void> {}
            operation.addCompletionHandler { withExtendedLifetime(capture) {} }
            try? queue.addOperation(operation)
        case .cancellationHandler:
            let operation = queue.addOperation { [gate = scene.gate] in
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    withExtendedLifetime(capture) {}
                }
            }
            operation.cancel()
        default:
            // The queue is freed before its operations.
            let short = TaskOperationQueue(.init(isSuspended: true, executor: scene.executor))
            for _ in 0..<3 { short.addOperation { withExtendedLifetime(capture) {} } }
        }
    }
}
