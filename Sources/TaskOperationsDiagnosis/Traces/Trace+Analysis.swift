import TaskOperations

extension Trace {
    /// One operation of the critical path, and the event that let it start or continue.
    public struct Step: Sendable, Hashable {
        /// The event that let an operation start or continue.
        public enum Cause: Sendable, Hashable {
            /// The operation started as soon as it was added. The program may have waited for another operation before
            /// the addition. The value is the last operation that ended before the addition; nil if there was none.
            case added(after: Int?)
            /// The operation started when this dependency had finished.
            case dependency(Int)
            /// The operation started when this operation returned a permit.
            case permit(Int)
            /// The body awaited this operation, and continued when it had finished.
            case wait(Int)
        }

        /// The index of the operation.
        public let operation: Int
        /// The event that let the operation start or continue.
        public let cause: Cause
        /// The time from the end of the previous step to the end of the operation, in seconds. If the operation had
        /// taken no time, the trace would be shorter by at most this time.
        public let share: Double
    }

    /// The operations that determine the duration of the trace, in order. Each operation started or continued when the
    /// previous operation ended. The last operation of the path ended last in the trace, apart from operations whose input
    /// had failed. If you make other operations faster, the trace does not become shorter.
    ///
    /// The search sorts the operations, and then takes logarithmic time for each step, and linear time in the number of
    /// dependencies and waits of the operations on the path.
    public var criticalPath: [Step] {
        // What ended at once because an input had failed did not delay the end.
        let executed = operations.indices.filter { operations[$0].outcome != .dependencyFailed }
        guard let last = executed.max(by: endsEarlier) ?? operations.indices.max(by: endsEarlier) else { return [] }
        let ends = Ends(operations)
        var steps: [Step] = []
        var visited: Set<Int> = []
        var next: Int? = last
        while let index = next, visited.insert(index).inserted {
            let cause = cause(of: index, ends)
            let before: Int? =
                switch cause {
                case .added(let other): other
                case .dependency(let other), .permit(let other), .wait(let other): other
                }
            let from = before.map { operations[$0].end } ?? operations[index].added
            steps.append(Step(operation: index, cause: cause, share: max(0, operations[index].end - from)))
            next = before
        }
        return steps.reversed()
    }

    private func endsEarlier(_ first: Int, _ second: Int) -> Bool { operations[first].end < operations[second].end }

    /// Returns the last event that let an operation start or continue.
    private func cause(of index: Int, _ ends: Ends) -> Step.Cause {
        let operation = operations[index]
        let awaited = operation.awaited.max { operations[$0].end < operations[$1].end }
        if let awaited, operations[awaited].end > operation.start { return .wait(awaited) }
        let dependency = operation.dependencies.max { operations[$0].end < operations[$1].end }
        // Changes in one step of the queue have the same time. The tolerance of a microsecond covers two steps.
        let isHeldUp = operation.waitedForPermit > 1e-6
        if !isHeldUp, let dependency, operations[dependency].end > operation.added - 1e-6 {
            return .dependency(dependency)
        }
        if isHeldUp, let other = lastEnd(ends.ofQueues[operation.queue], before: operation.start, except: index),
            operations[other].end > operation.ready
        {
            return .permit(other)
        }
        if let dependency, operations[dependency].end > operation.added - 1e-6 { return .dependency(dependency) }
        return .added(after: lastEnd(ends.all, before: operation.added, except: index))
    }

    /// The operations in the order of their ends.
    private struct Ends {
        let all: [Int]
        let ofQueues: [[Int]]

        init(_ operations: [Operation]) {
            all = operations.indices.sorted { operations[$0].end < operations[$1].end }
            var ofQueues = [[Int]](repeating: [], count: (operations.map(\.queue).max() ?? -1) + 1)
            for index in all { ofQueues[operations[index].queue].append(index) }
            self.ofQueues = ofQueues
        }
    }

    /// Returns the operation that ended last before a time.
    ///
    /// - Parameters:
    ///   - ends: The operations to search, in the order of their ends.
    ///   - excluded: An operation that is not returned.
    private func lastEnd(_ ends: [Int], before time: Double, except excluded: Int) -> Int? {
        let count = ends.partitioningIndex { operations[$0].end > time + 1e-9 }
        return ends[..<count].suffix(2).last { $0 != excluded }
    }

    /// The indices of the operations of the longest chain, in order. In a chain, each operation depends on the former one, or
    /// its body awaited it. The operations of the longest chain executed for the longest time together. With any number of
    /// permits, they would take this time.
    ///
    /// In contrast, `criticalPath` also follows permits. It tells why this run took its time with the width that it had.
    ///
    /// Takes O(*n* log *n*) time, and linear time in the number of dependencies and waits.
    public var longestChain: [Int] {
        // Negative for operations that are not reached yet.
        var times = [Double](repeating: -1, count: operations.count)
        var formers = [Int?](repeating: nil, count: operations.count)
        for index in operations.indices.sorted(by: { (operations[$0].end, $0) < (operations[$1].end, $1) }) {
            let operation = operations[index]
            let former = [operation.dependencies, operation.awaited].joined().max { times[$0] < times[$1] }
            formers[index] = former.flatMap { times[$0] < 0 ? nil : $0 }
            times[index] = operation.executed + (formers[index].map { times[$0] } ?? 0)
        }
        var chain: [Int] = []
        var next = times.indices.max { times[$0] < times[$1] }
        while let index = next {
            chain.append(index)
            next = formers[index]
        }
        return chain.reversed()
    }

    /// Returns the utilization of a queue's permits between the first start and the last end. If the width is unknown,
    /// the maximum number of permits in use replaces the width.
    ///
    /// - Parameter queue: The index of the queue.
    /// - Returns: The utilization, from 0 to 1. Takes linear time in the number of operations of the trace.
    public func utilization(ofQueue queue: Int) -> Double {
        utilization(of: operations.indices.filter { operations[$0].queue == queue }, onQueue: queue)
    }

    /// Returns the utilization of a queue's permits by its operations.
    func utilization(of members: [Int], onQueue queue: Int) -> Double {
        guard let first = members.lazy.map({ operations[$0].start }).min(),
            let last = members.lazy.map({ operations[$0].end }).max(), last > first
        else { return 0 }
        let width = queues[queue].width ?? queues[queue].laneCount
        if width == 0 { return 0 }
        return min(1, members.reduce(0) { $0 + operations[$1].executed } / (last - first) / Double(width))
    }

    /// The indices of the operations of each queue, in the order of their starts.
    var membersOfQueues: [[Int]] {
        var members = [[Int]](repeating: [], count: queues.count)
        for (index, operation) in operations.enumerated() { members[operation.queue].append(index) }
        return members
    }

    /// The indices of the operations that waited longest for a permit. The longest wait is first. There are at most ten
    /// indices.
    public var longestWaits: [Int] {
        operations.indices.sorted { operations[$0].waitedForPermit > operations[$1].waitedForPermit }
            .prefix(10).filter { operations[$0].waitedForPermit > 0 }
    }
}
