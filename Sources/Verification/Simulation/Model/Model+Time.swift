import TaskOperations

// Rates and ageing.

extension Model {
    /// Records the start of an operation.
    mutating func noteStart(in queue: Int) {
        check(mayStart(in: queue), "queue \(queue) starts another one at \(time), after \(queues[queue].starts)")
        queues[queue].starts.append(time)
    }

    /// Whether the rate of a queue allows another start. From any start on, it allows as many starts as its burst, and
    /// one more for each interval.
    ///
    /// - Parameter time: The time of the start; nil for the current time.
    func mayStart(in queue: Int, at time: Int? = nil) -> Bool {
        let time = time ?? self.time
        let starts = queues[queue].starts
        guard let rate = queues[queue].rate else { return true }
        return starts.indices.allSatisfy { first in
            starts.count - first < rate.burst + (time - starts[first]) / rate.interval
        }
    }

    /// The level that orders an operation, from 0 to 4.
    ///
    /// - Parameter levels: The priorities by which the library orders operations, by operation.
    func agedLevel(_ number: Int, _ levels: [Int]) -> Int {
        let level = TaskPriority.levels.firstIndex { Int($0.rawValue) == levels[number] }!
        guard let ageing = queues[operations[number].queue!].ageing else { return level }
        return min(4, level + (time - operations[number].arrivalTime) / ageing)
    }
}
