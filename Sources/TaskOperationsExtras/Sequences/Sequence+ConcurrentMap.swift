public import TaskOperations

extension Sequence where Element: Sendable {
    /// Returns the results of a function for all elements, in the order of the elements. Several calls run at once, in
    /// child tasks.
    ///
    /// ```swift
    /// let pages = try await urls.concurrentMap(maxConcurrentOperationCount: 8) { try await load($0) }
    /// ```
    ///
    /// An element is taken from the sequence only when its call can begin. If a call throws, no further call begins,
    /// and the tasks of the running calls are cancelled. The error is thrown after the running calls have ended.
    /// Cancelling the calling task has the same effects, unless all calls have begun. To call a function with every
    /// element even after a cancellation, use `concurrentPerform(over:width:stride:execute:)`.
    ///
    /// If a call itself awaits a `concurrentMap` or `concurrentForEach`, the calls of both together have one width, the
    /// larger of the two. A call that awaits the inner map does not count. Each map makes at least one call at a time. A
    /// map on a queue, a map of an `AsyncSequence`, and a map in an unstructured task have widths of their own.
    ///
    /// - Parameters:
    ///   - width: The maximum number of calls at once, at least 1. The default is the number of processors.
    ///   - isolation: The actor to which this method is isolated. The default is the actor of the caller.
    ///   - transform: The function to call with each element.
    /// - Returns: The results, in the order of the elements.
    /// - Throws: The first error that the function throws.
    ///   - `CancellationError` if the task is cancelled before all calls have begun.
    public func concurrentMap<Value: Sendable>(
        maxConcurrentOperationCount width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        isolation: isolated (any Actor)? = #isolation,
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        var values = IndexedValues<Value>()
        try await callConcurrently(width, transform) { values[$0] = $1 }
        return values.all
    }

    /// Calls a function with every element, and returns when all calls have ended. Several calls run at once, in child
    /// tasks. Failures and cancellation have the same effects as in `concurrentMap`.
    ///
    /// - Parameters:
    ///   - width: The maximum number of calls at once, at least 1. The default is the number of processors.
    ///   - isolation: The actor to which this method is isolated. The default is the actor of the caller.
    ///   - body: The function to call with each element.
    /// - Throws: The errors of `concurrentMap`.
    public func concurrentForEach(
        maxConcurrentOperationCount width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await callConcurrently(width, body) { _, _ in }
    }

    /// - Parameter receive: Called with the position of each element and its result, in the order of completion.
    private func callConcurrently<Value: Sendable>(
        _ width: Int, isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (Element) async throws -> Value, receive: (Int, Value) -> Void
    ) async throws {
        checkCount(width, "maxConcurrentOperationCount")
        let failure = await SharedWidth.during(width) { shared in
            await callConcurrently(width, shared, work, receive)
        }
        if let failure { throw failure }
    }

    /// Returns the first failure; nil if all calls succeed.
    private func callConcurrently<Value: Sendable>(
        _ width: Int, _ shared: SharedWidth, isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (Element) async throws -> Value, _ receive: (Int, Value) -> Void
    ) async -> (any Error)? {
        await withTaskGroup(of: (Int, Result<Value, any Error>).self, isolation: isolation) { group in
            var (running, failure, isAtEnd) = (0, (any Error)?.none, false)
            var iterator = enumerated().makeIterator()
            while true {
                while running < width, failure == nil, !isAtEnd, running == 0 || shared.take() {
                    let next = iterator.next()
                    isAtEnd = next == nil
                    if next != nil, Task.isCancelled { failure = CancellationError() }
                    guard let (index, element) = next, failure == nil else {
                        if running > 0 { shared.giveBack() }
                        break
                    }
                    running += 1
                    group.addTask {
                        do {
                            return (index, .success(try await work(element)))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                }
                guard let (index, result) = await group.next(isolation: isolation) else { return failure }
                running -= 1
                if running > 0 { shared.giveBack() }
                switch result {
                case .success(let value): receive(index, value)
                case .failure(let error) where failure == nil:
                    failure = error
                    group.cancelAll()
                case .failure: break
                }
            }
        }
    }
}

// MARK: - On a queue

extension Sequence where Element: Sendable {
    /// Returns the results of a function for all elements, in the order of the elements. Each call is an operation of a
    /// queue. The queue's width, limits and priorities apply.
    ///
    /// An element is taken from the sequence only if fewer than `maxConcurrentOperationCount` operations are
    /// unfinished. The first failure cancels the remaining operations. It is thrown after all operations have ended.
    /// Cancelling the calling task cancels all operations in the same way.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. The default priority is the priority of the calling task.
    ///   - width: The maximum number of unfinished operations, at least 1. The default is the width of the queue.
    ///   - isolation: The actor to which this method is isolated. The default is the actor of the caller.
    ///   - transform: The function to call with each element.
    /// - Returns: The results, in the order of the elements.
    /// - Throws: The first error that the function throws.
    ///   - `CancellationError` if an operation is cancelled before its start.
    ///   - `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before the body.
    public func concurrentMap<Value: Sendable>(
        on queue: TaskOperationQueue, name: String? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount width: Int? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ transform: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        var values = IndexedValues<Value>()
        try await callConcurrently(on: queue, name, options, width, transform) { values[$0] = $1 }
        return values.all
    }

    /// Calls a function with every element, and returns when all calls have ended. Each call is an operation of a
    /// queue. Failures and cancellation have the same effects as in `concurrentMap`.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. The default priority is the priority of the calling task.
    ///   - width: The maximum number of unfinished operations, at least 1. The default is the width of the queue.
    ///   - isolation: The actor to which this method is isolated. The default is the actor of the caller.
    ///   - body: The function to call with each element.
    /// - Throws: The errors of `concurrentMap`.
    public func concurrentForEach(
        on queue: TaskOperationQueue, name: String? = nil, options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount width: Int? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await callConcurrently(on: queue, name, options, width, body) { _, _ in }
    }

    private func callConcurrently<Value: Sendable>(
        on queue: TaskOperationQueue, _ name: String?, _ options: OperationOptions, _ width: Int?,
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
                    TaskOperation(name: name, priority: priority, options) { (index, try await work(element)) },
                    hasRoom: true)
            }
            guard let (index, value) = try await results.next() else { return }
            receive(index, value)
        }
    }
}

/// Collects values that arrive in any order. After all values have arrived, `all` returns them in order.
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
