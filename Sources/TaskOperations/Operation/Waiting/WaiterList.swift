/// The tasks that await the end of an operation, in the order of arrival.
///
/// The waiters are sorted by number, so that a waiter is found and removed in logarithmic time.
struct WaiterList: Sendable {
    private struct Waiter {
        let number: Int
        var level: PriorityLevel
        /// Nil if the waiter was removed.
        var continuation: WaitContinuation<Bool>?
    }

    private var waiters = TinyArray<Waiter>()
    private var leftCount = 0

    var count: Int { waiters.count - leftCount }

    var isEmpty: Bool { count == 0 }

    /// Adds a waiter. Its number is usually above all numbers in the list.
    mutating func append(_ continuation: WaitContinuation<Bool>, number: Int, level: PriorityLevel) {
        waiters.append(Waiter(number: number, level: level, continuation: continuation))
        // Threads draw numbers without a lock, so a waiter with a higher number may be added first.
        var position = waiters.count - 1
        while position > 0, waiters[position - 1].number > number {
            waiters.swapAt(position - 1, position)
            position -= 1
        }
    }

    /// Removes a waiter. Returns nil if it was already removed or was never added.
    mutating func remove(
        _ number: Int
    ) -> (continuation: WaitContinuation<Bool>, level: PriorityLevel)? {
        let position = position(of: number)
        guard position < waiters.count, waiters[position].number == number,
            let continuation = waiters[position].continuation.take()
        else { return nil }
        let level = waiters[position].level
        leftCount += 1
        if leftCount > 8, leftCount * 2 > waiters.count {
            waiters = TinyArray(waiters.filter { $0.continuation != nil })
            leftCount = 0
        }
        return (continuation, level)
    }

    /// Raises a waiter. Returns its former level; nil if the waiter is not in the list or already has this or a higher
    /// level.
    mutating func raise(_ number: Int, to level: PriorityLevel) -> PriorityLevel? {
        let position = position(of: number)
        guard position < waiters.count, waiters[position].number == number, waiters[position].continuation != nil,
            waiters[position].level < level
        else { return nil }
        defer { waiters[position].level = level }
        return waiters[position].level
    }

    /// Resumes all waiters after the end of the operation.
    @inline(__always)
    func resume() {
        if !waiters.isEmpty { resumeAll() }
    }

    // Not inlined. Otherwise, its generic types would be looked up even if there are no waiters.
    @inline(never)
    private func resumeAll() {
        waiters.forEach { if let continuation = $0.continuation { InlineJobs.end(continuation) } }
    }

    /// The first position with this number or a higher number.
    private func position(of number: Int) -> Int {
        var (low, high) = (0, waiters.count)
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
