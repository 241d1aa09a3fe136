// Semaphores that operations share.

extension Model {
    /// The operations that have begun and not ended. They hold a permit of the semaphore, even while they wait.
    private func holders(ofLimit limit: Int) -> [Int] {
        operations.indices.filter { operations[$0].phase == .executing && operations[$0].limits.contains(limit) }
    }

    func hasRoom(_ limit: Int) -> Bool { holders(ofLimit: limit).count < semaphores[limit] }

    func checkLimit(_ limit: Int) {
        let (holders, capacity) = (holders(ofLimit: limit), semaphores[limit])
        check(holders.count <= capacity, "\(holders) have permits of semaphore \(limit), whose capacity is \(capacity)")
    }
}
