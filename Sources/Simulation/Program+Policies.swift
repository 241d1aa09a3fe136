import TaskOperations

// Policies of queues and operations, for half of the random programs.

extension Program {
    /// Gives some queues and operations policies.
    mutating func addPolicies(from choices: inout some Choices) {
        for queue in queues.indices {
            queues[queue].order = choices.picks(percent: 40) ? .lastInFirstOut : .firstInFirstOut
        }
    }
}

extension Choices {
    /// As `happens(percent:)`, but never for 0, of which there is no end once all bytes are used.
    fileprivate mutating func picks(percent: Int) -> Bool { number(below: 100) >= 100 - percent }
}
