extension Trace {
    /// One operation of the critical path, and the last cause of its wait before it started.
    public struct Step: Sendable, Hashable {
        /// The event that determined when an operation started or continued.
        public enum Cause: Sendable, Hashable {
            /// The operation started as soon as it was added. The value is the last operation that ended before the
            /// addition, because the program may have waited for it; nil if no operation had ended.
            case added(after: Int?)
            /// The operation started when this dependency had finished.
            case dependency(Int)
            /// The operation started when this operation returned a permit.
            case permit(Int)
            /// The body continued when this operation, which it awaited, had finished.
            case wait(Int)
        }

        /// The operation, as an index.
        public let operation: Int
        /// The event that determined when the operation started or continued.
        public let cause: Cause
        /// The part of the trace's duration that the operation accounts for, in seconds: the time from the end of the
        /// previous step to the end of the operation. If the operation had taken no time, the trace would be shorter by
        /// at most this time.
        public let share: Double
    }

    /// The operations that determine the duration of the trace, in order. Each started or continued when the previous
    /// one ended, and the last one ended last. Making any other operation faster would not make the trace shorter.
    ///
    /// Takes the time of a sort, plus logarithmic time for each step.
    public var criticalPath: [Step] {
        guard let last = operations.indices.max(by: { operations[$0].end < operations[$1].end }) else { return [] }
        let ends = operations.indices.sorted { operations[$0].end < operations[$1].end }
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

    /// The last cause of the wait of an operation.
    private func cause(of index: Int, _ ends: [Int]) -> Step.Cause {
        let operation = operations[index]
        let awaited = operation.awaited.max { operations[$0].end < operations[$1].end }
        if let awaited, operations[awaited].end > operation.start { return .wait(awaited) }
        let dependency = operation.dependencies.max { operations[$0].end < operations[$1].end }
        // Changes in one step of the queue have the same time. The tolerance of a microsecond allows for two steps.
        let isHeldUp = operation.waitedForPermit > 1e-6
        if !isHeldUp, let dependency, operations[dependency].end > operation.added - 1e-6 {
            return .dependency(dependency)
        }
        if isHeldUp, let other = lastEnd(in: operation.queue, before: operation.start, except: index, ends),
            operations[other].end > operation.ready
        {
            return .permit(other)
        }
        if let dependency, operations[dependency].end > operation.added - 1e-6 { return .dependency(dependency) }
        return .added(after: lastEnd(in: nil, before: operation.added, except: index, ends))
    }

    /// The operation that ended last before a time, on one queue or on any.
    private func lastEnd(in queue: Int?, before time: Double, except index: Int, _ ends: [Int]) -> Int? {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if operations[ends[middle]].end <= time + 1e-9 { low = middle + 1 } else { high = middle }
        }
        return ends[..<low].last { (queue == nil || operations[$0].queue == queue) && $0 != index }
    }

    /// Returns the utilization of a queue's permits between the first start and the last end, from 0 to 1. If the width
    /// is unknown, the maximum number of permits in use replaces it.
    public func utilization(ofQueue queue: Int) -> Double {
        let members = operations.filter { $0.queue == queue }
        guard let first = members.map(\.start).min(), let last = members.map(\.end).max(), last > first else {
            return 0
        }
        let width = queues[queue].width ?? queues[queue].laneCount
        if width == 0 { return 0 }
        return members.reduce(0) { $0 + $1.executed } / (last - first) / Double(width)
    }

    /// The indices of the operations that waited longest for a permit, at most ten, the longest wait first.
    public var longestWaits: [Int] {
        operations.indices.sorted { operations[$0].waitedForPermit > operations[$1].waitedForPermit }
            .prefix(10).filter { operations[$0].waitedForPermit > 0 }
    }
}
