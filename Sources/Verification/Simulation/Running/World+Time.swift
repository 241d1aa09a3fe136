import TaskOperations

// The time for rates.

extension World {
    func advance(by seconds: Int) {
        model.time += seconds
        clock.advance(by: .seconds(seconds))
    }

    /// Advances the clock to the next deadline. Returns whether there was a deadline.
    func goOnInTime() -> Bool {
        guard let deadline = clock.nextDeadline else { return false }
        let left = clock.now.duration(to: deadline)
        model.check(left.components.attoseconds == 0, "the model counts whole seconds, and \(left) are left")
        perform(.advance(max(1, Int(left.components.seconds))))
        return true
    }

    /// Checks, when no job is left to run, that a queue that waits only for its rate will be woken in time.
    func checkWakes() {
        let wakeTime = clock.nextDeadline.map { Int($0.offset.components.seconds) } ?? .max
        for queue in queues.indices where queues[queue] != nil {
            guard let time = model.timeToStart(in: queue, levels: orderLevels) else { continue }
            model.check(wakeTime <= time, "queue \(queue) may go on at \(time), and nothing wakes it")
        }
    }

    /// Ends the remaining sleeps. If the program is stuck, some may remain.
    func endTime() {
        for _ in 0..<1000 {
            guard let deadline = clock.nextDeadline else { return }
            clock.advance(by: clock.now.duration(to: deadline))
            try? executor.run(jobLimit: 1000) {}
        }
    }
}

extension Program.Queue {
    var operationRate: OperationRate? { rate.map { .one(per: .seconds($0.interval), burst: $0.burst) } }
}
