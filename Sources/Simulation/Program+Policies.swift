import TaskOperations

// Policies of queues and operations, for half of the random programs.

extension Program {
    /// Gives some queues and operations policies.
    mutating func addPolicies(from choices: inout some Choices) {
        for queue in queues.indices {
            queues[queue].order = choices.picks(percent: 40) ? .lastInFirstOut : .firstInFirstOut
        }
        if choices.picks(percent: 40) {
            for number in operations.indices { operations[number].weight = choices.weight() }
        }
    }
}

extension Choices {
    /// Mostly 1, and seldom more than the width of any queue.
    fileprivate mutating func weight() -> Int {
        pick([(5, { _ in 1 }), (3, { _ in 2 }), (1, { _ in 3 }), (1, { _ in 5 })])
    }
}

extension Choices {
    /// As `happens(percent:)`, but never for 0, of which there is no end once all bytes are used.
    fileprivate mutating func picks(percent: Int) -> Bool { number(below: 100) >= 100 - percent }
}
