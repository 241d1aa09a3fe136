import Synchronization
import TaskOperations
import TaskOperationsExtras

/// Buffers the newest events of one queue or of all queues for one task.
final class EventBuffer: TaskOperationObserver {
    fileprivate struct State: Sendable {
        var events = Deque<TaskOperationEvent>()
        /// The number of events that describe the state at the beginning. They need no room.
        var replayedCount = 0
        /// The number of events that were dropped before the first event.
        var missedCount = 0
        var isEnded: Bool
        var waiter: WaitContinuation<Void>?
    }

    private let limit: Int
    private let endsWithQueue: Bool
    private let state: Lock<State>

    init(newest limit: Int, endsWithQueue: Bool, isEnded: Bool = false) {
        (self.limit, self.endsWithQueue) = (limit, endsWithQueue)
        state = Lock(State(isEnded: isEnded))
    }

    func operationChanged(_ event: TaskOperationEvent) {
        let (waiter, dropped) = state.withLock { state in
            let dropped = state.append(event, limit: limit)
            return (state.waiter.take(), dropped)
        }
        extendLifetime(dropped)
        if let waiter { InlineJobs.resume(waiter) }
    }

    func queueWasReleased(_ queue: QueueLabel) {
        if endsWithQueue { end() }
    }

    private func end() {
        let waiter = state.withLock { state in
            state.isEnded = true
            return state.waiter.take()
        }
        if let waiter { InlineJobs.resume(waiter) }
    }

    /// Waits for the next event. Returns nil if no more events can follow, or if the task is cancelled.
    func next() async -> TaskOperationEvent? {
        while true {
            let (event, isEnded) = state.withLock { ($0.takeFirst(), $0.isEnded) }
            if event != nil || isEnded { return event }
            await wait()
        }
    }

    private func wait() async {
        await withCancellableWait { (continuation: WaitContinuation<Void>) in
            let mustWait = state.withLock { state in
                if !state.events.isEmpty || state.isEnded { return false }
                state.waiter = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        } end: {
            end()
        }
    }
}

extension EventBuffer.State {
    /// Adds an event. Returns the event that is dropped for it; the caller releases that event after unlocking.
    fileprivate mutating func append(_ event: TaskOperationEvent, limit: Int) -> TaskOperationEvent? {
        if isEnded { return event }
        if event.isReplayed { replayedCount += 1 }
        let dropped = events.count - replayedCount >= limit ? removeFirst() : nil
        if dropped != nil { missedCount += 1 }
        events.append(event)
        return dropped
    }

    /// Removes the first event, and sets the number of the events that were dropped before it.
    fileprivate mutating func takeFirst() -> TaskOperationEvent? {
        guard var first = removeFirst() else { return nil }
        first.missedCount = missedCount
        missedCount = 0
        return first
    }

    private mutating func removeFirst() -> TaskOperationEvent? {
        let first = events.popFirst()
        if let first, first.isReplayed { replayedCount -= 1 }
        return first
    }
}
