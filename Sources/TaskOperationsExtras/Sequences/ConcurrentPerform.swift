public import TaskOperations

/// Calls a function with every element of a collection, and returns when all calls have ended. Several calls run at
/// once. This is the async form of `DispatchQueue.concurrentPerform`.
///
/// ```swift
/// await concurrentPerform(over: 0..<rows, stride: 16) { row in render(row) }
/// ```
///
/// Calls begin in the order of the elements. If a call throws, no further call begins, and the tasks of the running
/// calls are cancelled. The first error is thrown after the running calls have ended.
///
/// Cancelling the calling task cancels the tasks of the calls, but does not prevent further calls. Unless a call
/// throws, the function is called with every element.
///
/// - Parameters:
///   - elements: The elements.
///   - width: The maximum number of calls at once, at least 1. The default is the number of processors.
///   - stride: The number of consecutive elements that a task takes at a time, at least 1. Pass more than 1 if a call
///     takes only a few microseconds.
///   - work: The function to call with each element.
/// - Throws: The first error that the function throws.
public func concurrentPerform<Elements: RandomAccessCollection & Sendable, Failure>(
    over elements: Elements,
    width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
    stride: Int = 1,
    execute work: @escaping @Sendable (Elements.Element) async throws(Failure) -> Void
) async throws(Failure) {
    require(width > 0, "width is \(width); it must be at least 1.")
    require(stride > 0, "stride is \(stride); it must be at least 1.")
    let portions = ChunkedRange(count: elements.count, stride: stride)
    let failure = await withTaskGroup(of: Failure?.self) { group in
        for _ in 0..<min(width, portions.total) {
            group.addTask {
                do throws(Failure) {
                    while let portion = portions.next() {
                        for offset in portion {
                            if portions.isStopped { return nil }
                            try await work(elements[elements.index(elements.startIndex, offsetBy: offset)])
                        }
                    }
                    return nil
                } catch {
                    portions.stop()
                    return error
                }
            }
        }
        return await group.firstFailure()
    }
    if let failure { throw failure }
}

extension TaskGroup {
    /// Waits for all tasks, and returns the first failure. After the first failure, cancels the remaining tasks.
    fileprivate mutating func firstFailure<Failure: Error>() async -> Failure? where ChildTaskResult == Failure? {
        var first: Failure?
        for await failure in self {
            guard let failure, first == nil else { continue }
            first = failure
            cancelAll()
        }
        return first
    }
}
