import Synchronization
import TaskOperations
import TaskOperationsExtras

/// Buffers the events of one or more queues for one task.
final class EventBuffer: TaskOperationObserver {
    fileprivate struct State: Sendable {
        var events = Deque<TaskOperationEvent>()
        /// The numbers of events that were dropped before the first event and after the last one.
        var missedBefore = 0
        var missedAfter = 0
        /// The number of queues that can still send events.
        var sourceCount = 0
        var isEnded = false
        var waiter: WaitContinuation<Void>?
    }

    private let policy: TaskOperationEvents.BufferingPolicy
    private let state: Lock<State>

    /// - Parameter sourceCount: The number of queues that send events. The events end when all these queues are
    ///   released.
    init(_ policy: TaskOperationEvents.BufferingPolicy, sourceCount: Int) {
        self.policy = policy
        state = Lock(State(sourceCount: sourceCount, isEnded: sourceCount == 0))
    }

    func operationChanged(_ event: TaskOperationEvent) {
        let (waiter, dropped) = state.withLock { state in
            let dropped = state.append(event, policy)
            return (state.waiter.take(), dropped)
        }
        extendLifetime(dropped)
        if let waiter { InlineJobs.resume(waiter) }
    }

    func queueWasReleased(_ queue: QueueLabel) {
        end { state in
            state.sourceCount -= 1
            if state.sourceCount == 0 { state.isEnded = true }
        }
    }

    private func end(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            return state.isEnded ? state.waiter.take() : nil
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
            end { $0.isEnded = true }
        }
    }
}

extension EventBuffer.State {
    /// Adds an event. Returns the event that is dropped for it; the caller releases that event after unlocking.
    fileprivate mutating func append(
        _ event: TaskOperationEvent, _ policy: TaskOperationEvents.BufferingPolicy
    ) -> TaskOperationEvent? {
        if isEnded { return event }
        switch policy {
        case .oldest(let limit) where events.count >= limit:
            missedAfter += 1
            return event
        case .newest(let limit) where events.count >= limit:
            missedBefore += 1
            guard let first = events.popFirst() else { return event }
            events.append(event)
            return first
        case .unbounded, .newest, .oldest:
            var event = event
            event.missedCount = missedAfter
            missedAfter = 0
            events.append(event)
            return nil
        }
    }

    /// Removes the first event, and sets the number of the events that were dropped before it.
    fileprivate mutating func takeFirst() -> TaskOperationEvent? {
        guard var first = events.popFirst() else { return nil }
        first.missedCount += missedBefore
        missedBefore = 0
        return first
    }
}
