public import TaskOperations

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Returns the results of a function for all elements, several at a time.
    ///
    /// ```swift
    /// for try await page in urls.concurrentMap(maxConcurrentOperationCount: 8, { try await load($0) }) {
    ///     store(page)
    /// }
    /// ```
    ///
    /// An element is taken from this sequence only if there is room: if fewer than `maxConcurrentOperationCount` calls
    /// run or have a result that was not taken. No call begins before the first call of `next()`.
    ///
    /// The first failure, of a call or of this sequence, cancels the remaining calls. The iteration first returns the
    /// results that were ready before the failure, waits for the running calls to end, and then throws the error. If
    /// the iterating task is cancelled, everything is cancelled in the same way, and the iteration throws
    /// `CancellationError` or the error of a cancelled call. If the iterator is released early, all calls are
    /// cancelled; no code waits for their ends.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the calls, each as an operation. Its width, its limits and the priorities of its
    ///     operations apply. If it is nil, calls run where child tasks of the iterating task would run.
    ///   - options: The options of the operations. Without a priority they have that of the calling task.
    ///   - maxConcurrentOperationCount: The number of calls that may run or have a result that was not taken; at least
    ///     1. If it is nil, the width of the queue, or the number of processors if there is no queue.
    ///   - order: The order in which results are returned.
    ///   - transform: The function. It has the priority of the task that iterates.
    public func concurrentMap<Value: Sendable>(
        on queue: TaskOperationQueue? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int? = nil, order: ResultOrder = .input,
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        if let maxConcurrentOperationCount { checkCount(maxConcurrentOperationCount, "maxConcurrentOperationCount") }
        return ConcurrentMapSequence(
            base: self, queue: queue, options: options, width: maxConcurrentOperationCount, order: order,
            transform: transform)
    }

    /// Calls a function with every element, several at a time, and returns when all calls have ended.
    ///
    /// The first failure, of a call or of this sequence, cancels the remaining calls, and is thrown after the running
    /// calls have ended. Cancelling the task cancels everything in the same way.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the calls, each as an operation. Its width, its limits and the priorities of its
    ///     operations apply. If it is nil, calls run where child tasks of the calling task would run.
    ///   - options: The options of the operations. Without a priority they have that of the calling task.
    ///   - maxConcurrentOperationCount: The number of calls that may run at once; at least 1. If it is nil, the width
    ///     of the queue, or the number of processors if there is no queue.
    ///   - body: The function. It has the priority of the calling task.
    /// - Throws: The first error that the function or this sequence throws; `CancellationError` if the task is
    ///   cancelled before; `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end
    ///   before it does.
    public func concurrentForEach(
        on queue: TaskOperationQueue? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int? = nil,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        let results = concurrentMap(
            on: queue, options: options, maxConcurrentOperationCount: maxConcurrentOperationCount, order: .completion,
            body)
        for try await _ in results {}
    }
}

private struct ConcurrentMapSequence<Base: AsyncSequence & Sendable, Value: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    typealias Element = Value
    typealias Failure = any Error

    let base: Base
    let queue: TaskOperationQueue?
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

    /// Starts an operation that takes elements of the base and adds an operation for each element.
    private func start() -> FailFastResults<Value> {
        let own = TaskOperationQueue(
            .init(
                name: "concurrentMap",
                maxConcurrentOperationCount: TaskOperationQueue.unlimitedConcurrentOperationCount,
                executor: queue?.scheduler.bodyExecutor ?? preferredTaskExecutor()))
        let width = self.width ?? self.queue?.usableWidth ?? TaskOperationQueue.defaultMaxConcurrentOperationCount
        let buffer = ResultBuffer<Value>(on: queue ?? own, order: order, limit: width, cancelsRestOnFailure: true)
        let priority = Task.currentPriority
        let producer = TaskOperation<Void>(name: "elements of concurrentMap", priority: priority) {
            [base, transform, options] in
            var iterator = base.makeAsyncIterator()
            while true {
                try await buffer.waitForRoom()
                guard let element = try await iterator.next() else { return }
                buffer.add(
                    TaskOperation([.priority(priority), options]) { try await transform(element) }, hasRoom: true)
            }
        }
        buffer.start(producer: producer, on: own)
        return FailFastResults(of: buffer)
    }
}

extension TaskOperationQueue {
    /// The width, or 1 while the queue cannot start any operation.
    var usableWidth: Int { max(1, maxConcurrentOperationCount) }
}
