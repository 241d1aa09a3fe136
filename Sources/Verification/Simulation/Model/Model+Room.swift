import TaskOperations

// Queues with a maximum number of pending operations.

extension Model {
    /// The operations of a queue that have not begun, in the order of addition.
    private func pending(in queue: Int) -> [Int] { unfinished(in: queue).filter { operations[$0].phase == .submitted } }

    func isFull(_ queue: Int) -> Bool {
        pending(in: queue).count - freePermitCount(of: queue) >= queues[queue].pendingLimit
    }

    /// The number of further operations that the width of a queue permits to execute.
    private func freePermitCount(of queue: Int) -> Int {
        let executing = operations.count { $0.queue == queue && $0.phase == .executing }
        return queues[queue].isSuspended ? 0 : max(0, queues[queue].width - executing)
    }

    /// The operation that a full queue drops for a new one; nil if there is none.
    func nextDropped(of queue: Int) -> Int? {
        switch queues[queue].overflow {
        case .reject: nil
        case .dropOldest: pending(in: queue).dropFirst(freePermitCount(of: queue)).first
        }
    }

    mutating func setPendingLimit(_ queue: Int, _ limit: Int) {
        queues[queue].pendingLimit = limit
        useRoom(of: queue)
    }

    /// Records that an operation is to be added as soon as the queue has room.
    mutating func addWaiting(_ number: Int, to queue: Int) {
        let mustWait = isFull(queue) && queues[queue].intake != .shut && operations[number].phase != .finished
        if !mustWait { return add([number], to: queue, isBarrier: false) }
        operations[number].wasSubmitted = true
        queues[queue].waitingForRoom.append(number)
    }

    /// Adds operations that wait for room while there is room. Operations that have ended before need no room.
    mutating func useRoom(of queue: Int) {
        while !isFull(queue), !queues[queue].waitingForRoom.isEmpty {
            let number = queues[queue].waitingForRoom.removeFirst()
            if operations[number].phase != .finished { enter(number, queue, isBarrier: false) }
        }
    }

    func waitsForRoom(_ number: Int) -> Bool { queues.contains { $0.waitingForRoom.contains(number) } }
}
