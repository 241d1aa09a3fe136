import Synchronization
import TaskOperations

/// A buffer of operations. Producers add the operations, and consumers take their results.
///
/// `whole` depends on every unfinished operation. A task that needs the next result waits for `whole`, until a result
/// is ready. So the wait graph contains a wait for all these operations. This has three effects:
///
/// - A body that iterates the results of its own queue lends its permit.
/// - A cycle throws an error that names the operations.
/// - The operations inherit the priority of the waiting task.
final class ResultBuffer<Success: Sendable>: Sendable {
    private struct State: Sendable {
        /// The untaken operations in the order in which they will be taken. For `.completion`, only the finished ones.
        var line = Deque<TaskOperation<Success>>()
        /// The number of untaken operations.
        var count = 0
        /// The number of untaken operations above the limit.
        var excessCount = 0
        /// Whether there is a producer that has not ended.
        var hasProducer = false
        /// The error of the first operation or producer that failed; nil after it was thrown.
        var failure: (any Error)?
        var hasFailed = false
        /// Whether an operation is cancelled when it is added.
        var isCancelled = false
        /// The numbers of the waits for a result: those of bodies, and those of other tasks.
        var waits = (ofBodies: WaitingList<Int>(), ofOthers: WaitingList<Int>())
        /// The highest level of all tasks that have waited for a result.
        var level: PriorityLevel?

        /// Whether there is an untaken operation, or a producer that can add one.
        var hasMore: Bool { count > 0 || hasProducer }

        /// Counts one operation less above the limit. Returns false if there is none.
        mutating func removeExcess() -> Bool {
            if excessCount == 0 { return false }
            excessCount -= 1
            return true
        }

        /// Removes a wait. Returns false if it was ended before.
        mutating func removeWait(_ number: Int) -> Bool {
            waits.ofBodies.remove(number) != nil || waits.ofOthers.remove(number) != nil
        }
    }

    private let queue: TaskOperationQueue
    private let order: ResultOrder
    private let cancelsRestOnFailure: Bool
    /// Limits the number of untaken operations; nil if the number is unlimited.
    private let room: AsyncSemaphore?
    private let whole = TaskOperation<Void>.placeholder(name: "results")
    private let state = Lock(State())

    /// - Parameters:
    ///   - limit: The maximum number of untaken operations, at least 1. If nil, the number is unlimited.
    ///   - cancelsRestOnFailure: Whether the first failure cancels all operations, including operations that are added
    ///     later.
    init(on queue: TaskOperationQueue, order: ResultOrder, limit: Int?, cancelsRestOnFailure: Bool) {
        self.queue = queue
        self.order = order
        self.cancelsRestOnFailure = cancelsRestOnFailure
        room = limit.map { AsyncSemaphore(capacity: $0, name: "room for results") }
    }

    /// The number of untaken operations.
    var count: Int { state.withLock { $0.count } }

    /// Whether an operation or the producer has failed.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// Removes and returns the first error of an operation or a producer.
    func takeFailure() -> (any Error)? { state.withLock { $0.failure.take() } }
}

// MARK: - Adding

extension ResultBuffer {
    /// Waits until the number of untaken operations is below the limit. Then reserves room for one operation.
    ///
    /// - Parameter isProducer: Whether the calling body is the producer of this buffer, which needs no permit.
    /// - Throws: `CancellationError` if the task is cancelled during the wait.
    func waitForRoom(isProducer: Bool) async throws(CancellationError) {
        guard let room else { return }
        if isProducer || AnyTaskOperation.current == nil { return try await acquire(room) }
        if room.tryAcquire() { return }
        var result = Result<Void, CancellationError>.success(())
        let wait = {
            do throws(CancellationError) { try await self.acquire(room) } catch { result = .failure(error) }
        }
        do {
            try await whole.whileAwaited(wait: wait)
        } catch {
            // The operations wait for the calling body, which may be one of them. Other ones may need its permit.
            await withPermitLent(wait)
        }
        try result.get()
    }

    private func acquire(_ room: AsyncSemaphore) async throws(CancellationError) {
        // A single permit cannot exceed the capacity, so a cancellation is the only error.
        do { try await room.acquire() } catch { throw CancellationError() }
    }

    /// Adds a new operation to a queue.
    ///
    /// - Parameters:
    ///   - otherQueue: The queue; nil for the queue of this buffer.
    ///   - hasRoom: Whether the caller has reserved room.
    func add(_ operation: TaskOperation<Success>, on otherQueue: TaskOperationQueue? = nil, hasRoom: Bool) {
        count(operation, hasRoom: hasRoom)
        run(operation, on: otherQueue ?? queue) { [self] in didFinish($0 as! TaskOperation<Success>) }
    }

    /// Includes an operation that the caller adds to a queue, or has added.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if the operation waits for a body that waits for this buffer.
    func include(_ operation: TaskOperation<Success>) throws(TaskOperationError) {
        try whole.addDependency(operation)
        count(operation, hasRoom: false)
        follow(operation) { [self] in didFinish($0 as! TaskOperation<Success>) }
    }

    private func count(_ operation: TaskOperation<Success>, hasRoom: Bool) {
        let mayBeExcess = !hasRoom && room != nil
        state.withLock { state in
            state.count += 1
            if mayBeExcess { state.excessCount += 1 }
            if order == .input { state.line.append(operation) }
        }
        guard mayBeExcess, let room, room.tryAcquire() else { return }
        // A task that has taken an operation in the meantime counted it as excess, and released no room.
        if !state.withLock({ $0.removeExcess() }) { room.release() }
    }

    /// Adds a producer to a queue. A producer is an operation that adds other operations to this buffer until it ends.
    func start(producer: TaskOperation<Void>, on queue: TaskOperationQueue) {
        state.withLock { $0.hasProducer = true }
        run(producer, on: queue) { [self] in producerDidFinish($0) }
    }

    /// Makes `whole` depend on a new operation, and adds the operation to a queue. If the dependency would close a
    /// cycle, the operation fails.
    private func run(
        _ operation: AnyTaskOperation, on queue: TaskOperationQueue,
        onEnd: @escaping @Sendable (AnyTaskOperation) -> Void
    ) {
        do {
            try whole.addDependency(operation)
            queue.addNew(operation)
        } catch {
            operation.endOrCancel(error, isCancellation: false)
        }
        follow(operation, onEnd)
    }

    private func follow(_ operation: AnyTaskOperation, _ onEnd: @escaping @Sendable (AnyTaskOperation) -> Void) {
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
        // The call never throws, because `whole` never starts.
        try? whole.removeDependency(operation)
        if cancelsRestOnFailure, let failure = operation.failure { fail(with: failure) }
        let waits = state.withLock { state in
            change(&state)
            return takeWaits(&state)
        }
        for wait in waits { whole.leaveWait(wait) }
    }

    /// Removes and returns the waits that must end: all if there will be no other result. If there is a result, the first
    /// wait of a task outside of bodies, and the first wait of a body. A body may first have to wait for its permit.
    ///
    /// The task that takes the result ends the next waits if there is another result. If each result ended all waits, all
    /// but one would begin again.
    private func takeWaits(_ state: inout State) -> [Int] {
        if !state.hasMore { return state.waits.ofBodies.removeAll() + state.waits.ofOthers.removeAll() }
        if !hasResult(state) { return [] }
        return [state.waits.ofOthers.removeFirst(), state.waits.ofBodies.removeFirst()].compactMap(\.self)
    }

    private func hasResult(_ state: State) -> Bool {
        state.line.first.map { order == .completion || $0.isFinished } ?? false
    }

    /// Stores the first error, and cancels all operations. A later call has no effect.
    func fail(with error: any Error) {
        let isFirst = state.withLock { state in
            defer { if !state.hasFailed { (state.failure, state.hasFailed) = (error, true) } }
            return !state.hasFailed
        }
        if isFirst { cancelAll(andAdded: true) }
    }

    /// - Parameter andAdded: Whether operations that are added later are also cancelled.
    func cancelAll(andAdded: Bool) {
        if andAdded { state.withLock { $0.isCancelled = true } }
        for operation in whole.dependencies { operation.cancel() }
    }
}

// MARK: - Taking

extension ResultBuffer {
    private enum Step: Sendable {
        /// Take an operation, and end the waits that follow.
        case take(TaskOperation<Success>, leavesRoom: Bool, waits: [Int])
        case wait(Int)
        case end
    }

    /// Waits for the next finished operation, and takes it. Returns nil if no operation is left and no producer can add
    /// one.
    ///
    /// If the task is cancelled, all operations are cancelled. The call still waits until an operation has finished.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before the
    ///   body does.
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
            case .take(let operation, let leavesRoom, let waits):
                if leavesRoom { room?.release() }
                for wait in waits { whole.leaveWait(wait) }
                return .success(operation)
            case .end: return .success(nil)
            case .wait(let number):
                do throws(TaskOperationError) {
                    try await wait(number)
                } catch {
                    // If the wait has been ended for a result, another task must take it.
                    let waits = state.withLock { $0.removeWait(number) ? [] : takeWaits(&$0) }
                    for wait in waits { whole.leaveWait(wait) }
                    return .failure(error)
                }
            }
        }
    }

    private func nextStep() -> Step {
        let isBody = AnyTaskOperation.current != nil
        return state.withLock { state in
            if hasResult(state) {
                state.count -= 1
                let leavesRoom = !state.removeExcess()
                let taken = state.line.popFirst()!
                return .take(taken, leavesRoom: leavesRoom, waits: takeWaits(&state))
            }
            if !state.hasMore { return .end }
            let number = AnyTaskOperation.nextWaitNumber()
            if isBody {
                state.waits.ofBodies.append(number, number: number)
            } else {
                state.waits.ofOthers.append(number, number: number)
            }
            return .wait(number)
        }
    }

    private func wait(_ number: Int) async throws(TaskOperationError) {
        inherit(PriorityLevel(Task.currentPriority))
        _ = try await whole.wait(number: number, endsEarly: false) {
            state.withLock { state in
                !state.waits.ofBodies.contains(number) && !state.waits.ofOthers.contains(number)
            }
        }
    }

    /// Raises all operations to the level of a waiting task.
    ///
    /// The operations keep the level when the wait ends. Otherwise each wait would change the level of each operation
    /// twice.
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
