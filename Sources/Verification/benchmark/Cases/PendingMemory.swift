import Foundation
import TaskOperations

extension Case {
    /// The measured time is the time to create operations or tasks until they wait. A suspended task awaits a
    /// continuation.
    static let pendingMemory = Case(
        "pending-memory", "empty, waits", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(.init(isSuspended: true))
                let measurement = await weigh(count) {
                    await mainThread.run {
                        for _ in 0..<count { queue.addOperation {} }
                    }
                }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
                return measurement
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2, isSuspended: true)
                let measurement = await weigh(count) {
                    await mainThread.run {
                        for _ in 0..<count { queue.addOperation {} }
                    }
                }
                queue.isSuspended = false
                await mainThread.run { queue.waitUntilAllOperationsAreFinished() }
                return measurement
            },
            Subject(.task) { count in
                let parking = Parking(places: count)
                let measurement = await weigh(count) {
                    await mainThread.run {
                        for _ in 0..<count { Task.detached { await parking.park() } }
                    }
                    await parking.waitUntilFull()
                }
                await parking.clear()
                return measurement
            },
        ])
}

/// Measures the memory that is allocated and not freed while `work` creates waiting operations.
func weigh(_ count: Int, _ work: () async -> Void) async -> Measurement {
    let before = heapInUse
    let start = ContinuousClock.now
    await work()
    let elapsed = start.duration(to: .now)
    let bytes = before.flatMap { before in heapInUse.map { $0 - before } }
    return Measurement(elapsed, operations: count, bytes: bytes)
}

/// Keeps suspended tasks until it resumes them. Its own memory is allocated before the first task arrives.
private final class Parking: Sendable {
    private struct State: Sendable {
        var parked: [UnsafeContinuation<Void, Never>] = []
        var left = 0
    }

    private let places: Int
    private let state: Lock<State>

    init(places: Int) {
        self.places = places
        var state = State()
        state.parked.reserveCapacity(places)
        self.state = Lock(state)
    }

    /// Waits with the cheapest kind of continuation, which `clear` resumes once.
    func park() async {
        await withUnsafeContinuation { continuation in state.withLock { $0.parked.append(continuation) } }
        state.withLock { $0.left += 1 }
    }

    func waitUntilFull() async {
        while state.withLock({ $0.parked.count }) < places { await Task.yield() }
    }

    func clear() async {
        for continuation in state.withLock({ $0.parked }) { continuation.resume() }
        while state.withLock({ $0.left }) < places { await Task.yield() }
    }
}
