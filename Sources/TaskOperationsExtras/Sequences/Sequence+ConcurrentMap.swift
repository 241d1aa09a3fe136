public import TaskOperations

extension Sequence where Element: Sendable {
    /// Returns the results of a function for all elements, in the order of the elements. Several calls run at once, in
    /// child tasks.
    ///
    /// ```swift
    /// let pages = try await urls.concurrentMap(maxConcurrentOperationCount: 8) { try await load($0) }
    /// ```
    ///
    /// An element is taken from the sequence only when a call for it can begin. If a call throws, no other call begins,
    /// the tasks of the other calls are cancelled, and the error is thrown after these calls have ended. Cancelling the
    /// calling task cancels the tasks; a function that does not throw is still called with every element.
    ///
    /// - Parameters:
    ///   - width: The number of calls that may run at once; at least 1.
    ///   - isolation: The actor that the function is isolated to; by default that of the caller.
    ///   - transform: The function.
    /// - Throws: The first error that the function throws.
    public func concurrentMap<Value: Sendable, Failure>(
        maxConcurrentOperationCount width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        isolation: isolated (any Actor)? = #isolation,
        _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
    ) async throws(Failure) -> [Value] {
        var values = IndexedValues<Value>()
        try await callConcurrently(width, transform) { values[$0] = $1 }
        return values.all
    }

    /// Calls a function with every element, several at a time in child tasks, and returns when all calls have ended.
    ///
    /// It is otherwise like `concurrentMap`.
    ///
    /// - Parameters:
    ///   - width: The number of calls that may run at once; at least 1.
    ///   - isolation: The actor that the function is isolated to; by default that of the caller.
    ///   - body: The function.
    /// - Throws: The first error that the function throws.
    public func concurrentForEach<Failure>(
        maxConcurrentOperationCount width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (Element) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await callConcurrently(width, body) { _, _ in }
    }

    /// Calls a function with every element in a child task.
    ///
    /// - Parameter receive: Called with the position of an element and the result for it, in the order of completion.
    private func callConcurrently<Value: Sendable, Failure>(
        _ width: Int, isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (Element) async throws(Failure) -> Value, receive: (Int, Value) -> Void
    ) async throws(Failure) {
        checkCount(width, "maxConcurrentOperationCount")
        let failure = await withTaskGroup(of: (Int, Result<Value, Failure>).self, isolation: isolation) { group in
            var (running, failure) = (0, Failure?.none)
            var iterator = enumerated().makeIterator()
            while true {
                while running < width, failure == nil, let (index, element) = iterator.next() {
                    running += 1
                    group.addTask {
                        do throws(Failure) {
                            return (index, .success(try await work(element)))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                }
                guard let (index, result) = await group.next(isolation: isolation) else { return failure }
                running -= 1
                switch result {
                case .success(let value): receive(index, value)
                case .failure(let error) where failure == nil:
                    failure = error
                    group.cancelAll()
                case .failure: break
                }
            }
        }
        if let failure { throw failure }
    }
}

// MARK: - On a queue

extension Sequence where Element: Sendable {
    /// Returns the results of a function for all elements, in the order of the elements. Each call is an operation of a
    /// queue: its width, its limits and the priorities of its operations apply.
    ///
    /// An element is taken from the sequence only if fewer than `maxConcurrentOperationCount` operations are
    /// unfinished. The first failure cancels the remaining operations, and is thrown after they have ended. Cancelling
    /// the calling task cancels all operations in the same way.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - options: The options of the operations. Without a priority they have that of the calling task.
    ///   - width: The number of operations that may be unfinished at once; at least 1. If it is nil, the width of the
    ///     queue.
    ///   - isolation: The actor that the function is isolated to; by default that of the caller.
    ///   - transform: The function. It has the priority of the calling task.
    /// - Throws: The first error that the function throws; `CancellationError` if an operation is cancelled before its
    ///   start; `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before it does.
    public func concurrentMap<Value: Sendable>(
        on queue: TaskOperationQueue, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount width: Int? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        var values = IndexedValues<Value>()
        try await callConcurrently(on: queue, options, width, transform) { values[$0] = $1 }
        return values.all
    }

    /// Calls a function with every element, and returns when all calls have ended. Each call is an operation of a
    /// queue.
    ///
    /// It is otherwise like `concurrentMap`.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - options: The options of the operations. Without a priority they have that of the calling task.
    ///   - width: The number of operations that may be unfinished at once; at least 1. If it is nil, the width of the
    ///     queue.
    ///   - isolation: The actor that the function is isolated to; by default that of the caller.
    ///   - body: The function. It has the priority of the calling task.
    /// - Throws: The errors of `concurrentMap`.
    public func concurrentForEach(
        on queue: TaskOperationQueue, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount width: Int? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await callConcurrently(on: queue, options, width, body) { _, _ in }
    }

    private func callConcurrently<Value: Sendable>(
        on queue: TaskOperationQueue, _ options: OperationOptions, _ width: Int?,
        isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (Element) async throws -> Value, receive: (Int, Value) -> Void
    ) async throws {
        let width = width ?? queue.usableWidth
        checkCount(width, "maxConcurrentOperationCount")
        let buffer = ResultBuffer<(Int, Value)>(on: queue, order: .completion, limit: nil, cancelsRestOnFailure: true)
        let (results, priority) = (FailFastResults(of: buffer), Task.currentPriority)
        var iterator = enumerated().makeIterator()
        while true {
            while buffer.count < width, !buffer.hasFailed, let (index, element) = iterator.next() {
                buffer.add(
                    TaskOperation([.priority(priority), options]) { (index, try await work(element)) }, hasRoom: true)
            }
            guard let (index, value) = try await results.next() else { return }
            receive(index, value)
        }
    }
}

/// Collects values that arrive in any order, and returns them as an array when all have arrived.
private struct IndexedValues<Value> {
    private var values: [Value?] = []

    subscript(index: Int) -> Value? {
        get { values[index] }
        set {
            while values.count <= index { values.append(nil) }
            values[index] = newValue
        }
    }

    var all: [Value] { values.map { $0! } }
}
