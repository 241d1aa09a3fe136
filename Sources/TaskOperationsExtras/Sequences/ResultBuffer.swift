@_spi(Lock) import TaskOperations

/// The operations of one or more producers, whose results one consumer takes.
///
/// `whole` depends on every unfinished operation. A task that waits for the next result waits for `whole`, and stops
/// waiting as soon as there is a result: in the wait graph, the task therefore waits for all operations. For this
/// reason, a body that iterates the results of its own queue lends its permit, a cycle throws an error that names the
/// operations, and the operations inherit the priority of the waiting task.
final class ResultBuffer<Success: Sendable>: Sendable {
    private struct State: Sendable {
        /// The operations in the order in which they are taken. With the order of input, these are all operations that
        /// were not taken; with the order of completion, only the finished ones.
        var line = Deque<TaskOperation<Success>>()
        /// The number of operations that were added and not taken.
        var count = 0
        /// The number of these operations that were added without room.
        var excessCount = 0
        /// True while an operation that adds others has not ended.
        var hasProducer = false
        /// The error of the first operation that failed, or of the producer, until it is thrown.
        var failure: (any Error)?
        var hasFailed = false
        /// Whether operations that are added later are cancelled.
        var isCancelled = false
        /// The numbers of the waits for a result.
        var waits: [Int] = []
        /// The highest level of a task that has waited.
        var level: PriorityLevel?
    }

    private let queue: TaskOperationQueue
    private let order: ResultOrder
    private let cancelsRestOnFailure: Bool
    /// The semaphore that limits the number of operations that were not taken; nil if the number is not limited.
    private let room: AsyncSemaphore?
    private let whole = TaskOperation<Void>.placeholder(name: "results")
    private let state = Lock(State())

    /// - Parameters:
    ///   - limit: The number of operations that may be added and not taken; at least 1, nil for any number.
    ///   - cancelsRestOnFailure: Whether the first failure cancels all operations, including those that are added
    ///     later.
    init(on queue: TaskOperationQueue, order: ResultOrder, limit: Int?, cancelsRestOnFailure: Bool) {
        self.queue = queue
        self.order = order
        self.cancelsRestOnFailure = cancelsRestOnFailure
        room = limit.map { AsyncSemaphore(capacity: $0, name: "room for results") }
    }

    /// The number of operations that were added and not taken.
    var count: Int { state.withLock { $0.count } }

    /// Whether an operation or the producer has failed.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// Removes and returns the error of the first operation that failed, or of the producer.
    func takeFailure() -> (any Error)? { state.withLock { $0.failure.take() } }
}

// MARK: - Adding

extension ResultBuffer {
    /// Waits until the number of operations that were not taken is below the limit, and then counts one more.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    func waitForRoom() async throws(CancellationError) {
        try await room?.acquire()
    }

    /// Adds a new operation to the queue.
    ///
    /// - Parameter hasRoom: Whether the caller has waited for room.
    func add(_ operation: TaskOperation<Success>, hasRoom: Bool) {
        let isExcess = !hasRoom && room?.tryAcquire() == false
        state.withLock { state in
            state.count += 1
            if isExcess { state.excessCount += 1 }
            if order == .input { state.line.append(operation) }
        }
        run(operation, on: queue) { [self] in didFinish($0 as! TaskOperation<Success>) }
    }

    /// Adds to a queue an operation that adds other operations to this buffer until it ends.
    func start(producer: TaskOperation<Void>, on queue: TaskOperationQueue) {
        state.withLock { $0.hasProducer = true }
        run(producer, on: queue) { [self] in producerDidFinish($0) }
    }

    /// Makes `whole` depend on a new operation, and adds the operation to a queue. If this would close a cycle, the
    /// operation fails.
    private func run(
        _ operation: AnyTaskOperation, on queue: TaskOperationQueue,
        onEnd: @escaping @Sendable (AnyTaskOperation) -> Void
    ) {
        do {
            try whole.addDependency(operation)
            queue.addNew(operation)
        } catch {
            operation.endBeforeStart(error, isCancellation: false)
        }
        if state.withLock({ $0.isCancelled }) { operation.cancel() }
        if !operation.addHandlerUnlessFinished(onEnd) { onEnd(operation) }
    }

    private func didFinish(_ operation: TaskOperation<Success>) {
        exclude(operation) { state in
            if order == .completion { state.line.append(operation) }
        }
    }

    private func producerDidFinish(_ producer: AnyTaskOperation) {
        exclude(producer) { $0.hasProducer = false }
    }

    private func exclude(_ operation: AnyTaskOperation, _ change: (inout State) -> Void) {
        // The call throws only if `whole` has started, and `whole` never starts.
        try? whole.removeDependency(operation)
        if cancelsRestOnFailure, let failure = operation.failure { fail(with: failure) }
        let waits = state.withLock { state in
            change(&state)
            defer { state.waits = [] }
            return state.waits
        }
        for wait in waits { whole.leaveWait(wait) }
    }

    /// Stores an error as the failure of the whole and cancels all operations, unless another failure came first.
    func fail(with error: any Error) {
        let isFirst = state.withLock { state in
            defer { if !state.hasFailed { (state.failure, state.hasFailed) = (error, true) } }
            return !state.hasFailed
        }
        if isFirst { cancelAll(andAdded: true) }
    }

    /// Cancels all unfinished operations.
    ///
    /// - Parameter andAdded: Whether operations that are added later are cancelled too.
    func cancelAll(andAdded: Bool) {
        if andAdded { state.withLock { $0.isCancelled = true } }
        for operation in whole.dependencies { operation.cancel() }
    }
}

// MARK: - Taking

extension ResultBuffer {
    private enum Step: Sendable {
        case take(TaskOperation<Success>, leavesRoom: Bool)
        case wait(Int)
        case end
    }

    /// Waits for the next finished operation, and takes it; nil if no operation is left and no producer can add one.
    ///
    /// If the task is cancelled, all operations are cancelled, and the call waits for them as before.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before it
    ///   does.
    func next() async throws(TaskOperationError) -> TaskOperation<Success>? {
        let result = await withTaskCancellationHandler {
            await takeNext()
        } onCancel: {
            cancelAll(andAdded: true)
        }
        return try result.get()
    }

    private func takeNext() async -> Result<TaskOperation<Success>?, TaskOperationError> {
        while true {
            switch nextStep() {
            case .take(let operation, let leavesRoom):
                if leavesRoom { room?.release() }
                return .success(operation)
            case .end: return .success(nil)
            case .wait(let number):
                do throws(TaskOperationError) {
                    try await wait(number)
                } catch {
                    state.withLock { state in state.waits.removeAll { $0 == number } }
                    return .failure(error)
                }
            }
        }
    }

    private func nextStep() -> Step {
        state.withLock { state in
            if let first = state.line.first, order == .completion || first.isFinished {
                state.count -= 1
                let leavesRoom = state.excessCount == 0
                if !leavesRoom { state.excessCount -= 1 }
                return .take(state.line.popFirst()!, leavesRoom: leavesRoom)
            }
            if state.count == 0, !state.hasProducer { return .end }
            let number = AnyTaskOperation.nextWaitNumber()
            state.waits.append(number)
            return .wait(number)
        }
    }

    /// Waits until an operation or the producer has finished.
    private func wait(_ number: Int) async throws(TaskOperationError) {
        inherit(PriorityLevel(Task.currentPriority))
        _ = try await whole.wait(number: number, endsEarly: false) {
            state.withLock { state in !state.waits.contains(number) }
        }
    }

    /// Raises all operations to the level of a waiting task.
    ///
    /// The level stays when the wait ends. Otherwise each wait would change the level of each operation twice.
    private func inherit(_ level: PriorityLevel) {
        let (isHigher, former) = state.withLock { state -> (Bool, PriorityLevel?) in
            let former = state.level
            if let former, former >= level { return (false, nil) }
            state.level = level
            return (true, former)
        }
        if isHigher { whole.inherit(from: former, to: level) }
    }
}
