import TaskOperations

// Rates and ageing.

extension Model {
    /// An operation starts.
    mutating func noteStart(in queue: Int) {
        check(mayStart(in: queue), "queue \(queue) starts another one at \(time), after \(queues[queue].starts)")
        queues[queue].starts.append(time)
    }

    /// Whether the rate of a queue allows another start: from any start on there may be as many as its burst, and one more
    /// for each interval.
    ///
    /// - Parameter time: Now, if none is given.
    func mayStart(in queue: Int, at time: Int? = nil) -> Bool {
        let time = time ?? self.time
        let starts = queues[queue].starts
        guard let rate = queues[queue].rate else { return true }
        return starts.indices.allSatisfy { first in
            starts.count - first < rate.burst + (time - starts[first]) / rate.interval
        }
    }

    /// The level by which an operation is ordered, from 0 to 4.
    ///
    /// - Parameter levels: The priorities that order operations, as the library has them, by operation.
    func agedLevel(_ number: Int, _ levels: [Int]) -> Int {
        let level = TaskPriority.levels.firstIndex { Int($0.rawValue) == levels[number] }!
        guard let ageing = queues[operations[number].queue!].ageing else { return level }
        return min(4, level + (time - operations[number].arrivalTime) / ageing)
    }
}
