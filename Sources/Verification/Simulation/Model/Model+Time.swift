import TaskOperations

// Rates.

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
}
