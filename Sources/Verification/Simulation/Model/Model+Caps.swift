// Limits for the operations of one priority.

extension Model {
    mutating func setCap(_ queue: Int, _ level: Int, _ count: Int) {
        queues[queue].caps[level] = queues[queue].isClosing ? max(1, count) : count
    }

    /// Whether a level may have no free permits, so that operations of lower levels may begin first.
    func mayBeFull(_ queue: Int, _ level: Int, _ levels: [Int]) -> Bool {
        guard let cap = queues[queue].caps[level] else { return false }
        return cap == 0
            || operations.indices.contains { number in
                operations[number].queue == queue && operations[number].phase == .executing && levels[number] == level
            }
    }

    /// Checks, after an operation of a level has begun, that the operations of the level hold no more permits than its
    /// limit, or that only one of them executes.
    func checkCap(of queue: Int, _ level: Int, _ levels: [Int]) {
        guard let cap = queues[queue].caps[level] else { return }
        let holders = holders(in: queue).filter { levels[$0] == level }
        let weight = weight(of: holders)
        check(
            weight <= cap || (holders.count == 1 && cap > 0),
            "\(holders) of weight \(weight) and level \(level) execute in queue \(queue), which allows \(cap)")
    }
}
