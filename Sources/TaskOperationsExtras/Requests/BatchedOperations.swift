import Synchronization
public import TaskOperations

/// Operations that answer several callers at once. Each caller passes one input and receives its own result or error.
///
/// Use it for a service that answers many inputs faster together than one after the other, such as a database:
///
/// ```swift
/// let users = BatchedOperations<Int, User>(queue: queue, maxCount: 100, collecting: .milliseconds(5)) { ids in
///     try await database.users(ids).map { .success($0) }   // in the order of the inputs
/// }
/// let user = try await users.value(for: 7)
/// ```
///
/// A batch accepts inputs until it starts or is full. It starts after the time for collecting, or when it is full, or
/// after `flush()`, and when the queue has a permit for it. So batches grow while the queue is busy. A cancelled caller
/// leaves a batch that has not started. A batch without callers is cancelled.
///
/// The operation of a batch has the highest priority of the tasks that await it. If a body awaits a batch, the rules of
/// waits for operations apply: a body that awaits a batch of its own queue lends its permit.
///
/// This is the model of `DataLoader` (graphql/dataloader). Unlike `DataLoader`, this type does not look for equal
/// inputs. For that, call `value(for:)` in the body of a `KeyedOperations`. See <doc:Batches>.
///
/// A call takes constant time, plus logarithmic time for the timer of a new batch.
public final class BatchedOperations<Input: Sendable, Value: Sendable>: Sendable {
    /// The work of a batch. It receives at least one input, in the order of the calls, and returns a result for each, in
    /// the same order.
    public typealias Body = @Sendable (_ inputs: [Input]) async throws -> [Result<Value, any Error>]

    /// The results by ticket.
    private typealias Results = [Int: Result<Value, any Error>]

    /// A batch, its operation and its pause. Only the callers and the table retain this object. So an operation that was
    /// never added does not keep itself.
    private final class Entry: Sendable {
        let batch: Batch<Input>
        let operation: TaskOperation<Results>
        let pause: SettlingPause?

        init(_ batch: Batch<Input>, _ operation: TaskOperation<Results>, _ pause: SettlingPause?) {
            (self.batch, self.operation, self.pause) = (batch, operation, pause)
        }
    }

    private let queue: TaskOperationQueue
    private let maxCount: Int
    private let pause: Duration
    private let name: String?
    private let options: OperationOptions
    private let body: Body
    /// The batch that accepts inputs; nil if there is none.
    private let open = Lock<Entry?>(nil)

    /// Creates an object without a batch.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the batches. It can contain other operations, too.
    ///   - maxCount: The maximum number of inputs of a batch; at least 1.
    ///   - pause: The time for which a batch collects inputs after its first one. A duration that is not positive adds
    ///     no pause: a batch then collects inputs only while the queue has no permit for it. The clock of the options
    ///     measures the time.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. A retry policy runs the body again with the same inputs.
    ///   - body: The work of a batch.
    public init(
        queue: TaskOperationQueue, maxCount: Int, collecting pause: Duration = .zero,
        name: String? = nil, options: OperationOptions = OperationOptions(), body: @escaping Body
    ) {
        require(maxCount >= 1, "maxCount is \(maxCount); it must be at least 1.")
        self.queue = queue
        self.maxCount = maxCount
        self.pause = pause
        self.name = name
        self.options = options
        self.body = body
    }

    /// Adds an input to a batch, and waits for its result.
    ///
    /// - Parameter input: The input.
    /// - Returns: The value of the input's result.
    /// - Throws: The error of the input's result, or the error that the body throws.
    ///   - `BatchError.wrongResultCount` if the body returns another number of results than of inputs.
    ///   - `CancellationError` if the calling task or the operation of the batch is cancelled. A batch that has started
    ///     continues if it has other callers.
    ///   - `TaskOperationError.queueShutDown` if the queue was shut down before the batch began to collect.
    ///   - `TaskOperationError.waitCycle` if a body awaits a batch that cannot end before the body does.
    public func value(for input: Input) async throws -> Value {
        try Task.checkCancellation()
        let (entry, ticket) = join(input)
        var isOver = false
        do {
            isOver = try await entry.operation.wait(
                number: AnyTaskOperation.nextWaitNumber(), endsEarly: true, hasLeft: { false })
        } catch {
            leave(entry, ticket)
            throw error
        }
        if !isOver {
            leave(entry, ticket)
            throw CancellationError()
        }
        // The batch started with this input, so there is a result.
        return try entry.operation.finishedValue()[ticket]!.get()
    }

    /// Starts the batch that collects inputs, without a further pause. Has no effect if there is none.
    public func flush() {
        open.withLock { $0 }?.pause?.finish()
    }

    private func join(_ input: Input) -> (Entry, ticket: Int) {
        while true {
            let present = open.withLock { $0 }
            if let present, !present.operation.isFinished, !present.operation.isCancelled,
                let (ticket, isFull) = present.batch.add(input, upTo: maxCount)
            {
                if isFull { close(present.batch) }
                return (present, ticket)
            }
            let new = entry(for: input)
            let isSet = open.withLock { open in
                // `present` is retained, so that no batch is freed under the lock.
                if open !== present { return false }
                open = new
                return true
            }
            if isSet {
                queue.addNew(new.operation)
                new.pause?.begin(pause, clock: options.schedule.clock)
                if maxCount == 1 { close(new.batch) }
                return (new, 0)
            }
        }
    }

    private func entry(for input: Input) -> Entry {
        let batch = Batch(input)
        let pause = SettlingPause.make(of: pause)
        let operation = TaskOperation<Results>(name: name, dependencies: [AnyTaskOperation]().and(pause), options) {
            [body] in
            let (inputs, tickets) = try batch.begin()
            let results = try await body(inputs)
            if results.count != inputs.count {
                throw BatchError.wrongResultCount(results.count, inputCount: inputs.count)
            }
            return Results(uniqueKeysWithValues: zip(tickets, results))
        }
        operation.addHandler { [weak self] _ in
            pause?.finish()
            self?.close(batch)
        }
        return Entry(batch, operation, pause)
    }

    private func leave(_ entry: Entry, _ ticket: Int) {
        if !entry.batch.leave(ticket) { return }
        entry.operation.cancel()
        close(entry.batch)
    }

    /// Makes later inputs begin another batch, and ends the pause of this one.
    private func close(_ batch: Batch<Input>) {
        let closed = open.withLock { $0?.batch === batch ? $0.take() : nil }
        closed?.pause?.finish()
    }
}

/// An error of a batch.
public enum BatchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The body of a batch returned another number of results than it received inputs.
    case wrongResultCount(Int, inputCount: Int)

    public var description: String {
        switch self {
        case .wrongResultCount(let count, let inputCount):
            """
            The body of a batch returned \(count) results for \(inputCount) inputs. Return a result for each input, in \
            the order of the inputs.
            """
        }
    }
}
