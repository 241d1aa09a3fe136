import TaskOperations
import TaskOperationsTesting

// The time of rates and ageing.

extension World {
    func advance(by seconds: Int) {
        // What was added is taken in, so that its age counts from now.
        for queue in queues { _ = queue?.operationCount }
        model.time += seconds
        clock.advance(by: .seconds(seconds))
    }

    /// Goes on to the next moment that anything waits for. Returns whether there is one.
    func goOnInTime() -> Bool {
        guard let deadline = clock.nextDeadline else { return false }
        let left = clock.now.duration(to: deadline)
        // All that the program knows are whole seconds.
        perform(.advance(Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)))
        return true
    }

    /// Ends what still sleeps.
    func endTime() {
        while let deadline = clock.nextDeadline {
            clock.advance(by: clock.now.duration(to: deadline))
            try? executor.run {}
        }
    }
}

extension Program.Queue {
    var operationRate: OperationRate? { rate.map { .one(per: .seconds($0.interval), burst: $0.burst) } }
    var operationAgeing: OperationAgeing? { ageing.map { .raise(after: .seconds($0)) } }
}
