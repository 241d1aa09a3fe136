public import TaskOperations

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Returns the results of a function for all elements. Several calls of the function run at once.
    ///
    /// ```swift
    /// for try await page in urls.concurrentMap(maxConcurrentOperationCount: 8, { try await load($0) }) {
    ///     store(page)
    /// }
    /// ```
    ///
    /// At most `maxConcurrentOperationCount` calls are running or have an untaken result. While this limit is reached,
    /// no element is taken from this sequence. The first call begins after the first call of `next()`.
    ///
    /// If a call or this sequence fails, the remaining calls are cancelled. The iteration first returns the results
    /// that were ready before the failure. Then it waits until the running calls have ended, and throws the error.
    ///
    /// If the iterating task is cancelled, all calls are cancelled. The iteration waits in the same way, and throws
    /// `CancellationError` or the error of a cancelled call. If the iterator is released early, all calls are cancelled
    /// without waiting for their ends.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs each call as an operation. The queue's width, limits and priorities apply. If it
    ///     is nil, calls run where child tasks of the iterating task would run.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. The default priority is the priority of the iterating task.
    ///   - maxConcurrentOperationCount: The maximum number of calls that are running or have an untaken result. It must
    ///     be at least 1. The default is the width of the queue. Without a queue, the default is the number of
    ///     processors.
    ///   - order: The order in which results are returned.
    ///   - transform: The function to call with each element.
    /// - Returns: The sequence of the results.
    public func concurrentMap<Value: Sendable>(
        on queue: TaskOperationQueue? = nil, name: String? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int? = nil, order: ResultOrder = .input,
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        if let maxConcurrentOperationCount { checkCount(maxConcurrentOperationCount, "maxConcurrentOperationCount") }
        return ConcurrentMapSequence(
            base: self, queue: queue, name: name, options: options, width: maxConcurrentOperationCount, order: order,
            transform: transform)
    }

    /// Calls a function with every element, and returns when all calls have ended. Several calls run at once.
    ///
    /// If a call or this sequence fails, the remaining calls are cancelled. The error is thrown after the running calls
    /// have ended. Cancelling the task cancels all calls in the same way.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs each call as an operation. The queue's width, limits and priorities apply. If it
    ///     is nil, calls run where child tasks of the calling task would run.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. The default priority is the priority of the calling task.
    ///   - maxConcurrentOperationCount: The maximum number of calls at once, at least 1. The default is the width of
    ///     the queue. Without a queue, the default is the number of processors.
    ///   - body: The function to call with each element.
    /// - Throws: The first error that the function or this sequence throws.
    ///   - `CancellationError` if the task is cancelled before all calls have ended.
    ///   - `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before the body.
    public func concurrentForEach(
        on queue: TaskOperationQueue? = nil, name: String? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int? = nil,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        let results = concurrentMap(
            on: queue, name: name, options: options, maxConcurrentOperationCount: maxConcurrentOperationCount,
            order: .completion, body)
        for try await _ in results {}
    }
}

private struct ConcurrentMapSequence<Base: AsyncSequence & Sendable, Value: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    typealias Element = Value
    typealias Failure = any Error

    let base: Base
    let queue: TaskOperationQueue?
    let name: String?
    let options: OperationOptions
    let width: Int?
    let order: ResultOrder
    let transform: @Sendable (Base.Element) async throws -> Value

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
        private let sequence: ConcurrentMapSequence
        private var results: FailFastResults<Value>?

        init(sequence: ConcurrentMapSequence) {
            self.sequence = sequence
        }

        mutating func next() async throws -> Value? {
            let results = self.results ?? sequence.start()
            self.results = results
            return try await results.next()
        }
    }

    /// Starts an operation that takes the elements of `base` and adds an operation for each of them.
    private func start() -> FailFastResults<Value> {
        let own = TaskOperationQueue(
            .init(
                name: "concurrentMap",
                maxConcurrentOperationCount: .max,
                executor: queue?.scheduler.bodyExecutor ?? preferredTaskExecutor()))
        let width = self.width ?? self.queue?.usableWidth ?? TaskOperationQueue.defaultMaxConcurrentOperationCount
        let buffer = ResultBuffer<Value>(on: queue ?? own, order: order, limit: width, cancelsRestOnFailure: true)
        let priority = Task.currentPriority
        let producer = TaskOperation<Void>(name: "elements of concurrentMap", priority: priority) {
            [base, transform, name, options] in
            var iterator = base.makeAsyncIterator()
            while true {
                try await buffer.waitForRoom(isProducer: true)
                guard let element = try await iterator.next() else { return }
                buffer.add(
                    TaskOperation(name: name, priority: priority, options) { try await transform(element) },
                    hasRoom: true)
            }
        }
        buffer.start(producer: producer, on: own)
        return FailFastResults(of: buffer)
    }
}

extension TaskOperationQueue {
    /// The width of the queue; 1 if the width is 0.
    var usableWidth: Int { max(1, maxConcurrentOperationCount) }
}
