/// Does something with every element of a collection, several at a time, and returns when all is done: the async
/// form of `DispatchQueue.concurrentPerform`.
///
/// ```swift
/// await concurrentPerform(over: 0..<rows, stride: 16) { row in render(row) }
/// ```
///
/// Elements are begun in their order. If the work throws, no further element is begun, the tasks that work on
/// others are cancelled, and the first error is thrown after they are done. Cancelling the calling task cancels the
/// work's tasks, and leaves it to the work what to do: work that does not throw is done with every element.
///
/// - Parameters:
///   - elements: What to do something with.
///   - width: How many are worked on at once, at least 1; the number of processors if none is given.
///   - stride: How many consecutive elements a task takes at a time, at least 1. For work that takes less than some
///     microseconds, take more than one.
///   - work: What to do with an element.
/// - Throws: The first error that the work throws.
public func concurrentPerform<Elements: RandomAccessCollection & Sendable, Failure>(
    over elements: Elements,
    width: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
    stride: Int = 1,
    execute work: @escaping @Sendable (Elements.Element) async throws(Failure) -> Void
) async throws(Failure) {
    require(width > 0, "width is \(width); it must be at least 1.")
    require(stride > 0, "stride is \(stride); it must be at least 1.")
    let portions = Portions(count: elements.count, stride: stride)
    let failure = await withTaskGroup(of: Failure?.self) { group in
        for _ in 0..<min(width, portions.total) {
            group.addTask {
                do throws(Failure) {
                    while let portion = portions.next() {
                        for offset in portion where !portions.isStopped {
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
    /// Waits for all tasks, and cancels those that are left when one fails.
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
