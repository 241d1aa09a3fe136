extension ControlledSystem {
    /// The virtual time since the start of the schedule; 0 outside of schedules.
    public static var time: Duration { ControlledThread.current?.turnstile.readClock() ?? .zero }

    /// Sleeps until a point of virtual time. The schedule chooses when that time is reached.
    public static func sleep(until deadline: Duration) async throws {
        let sleep = Sleep()
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleep.begin(until: deadline, $0) }
        } onCancel: {
            sleep.cancel()
        }
        try Task.checkCancellation()
    }
}

/// The sleep of a task on a controlled clock.
private final class Sleep: Sendable {
    private struct State: @unchecked Sendable {
        // Accessed only under the lock.
        var continuation: CheckedContinuation<Void, Never>?
        var timer: ControlledThread?
        var isOver = false
    }

    private let state = ControlledLock(State())

    func begin(until deadline: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        let timer = ControlledThread.current?.turnstile.addTimer(at: deadline) { self.end() }
        let isOver = state.withLock { state in
            if state.isOver { return true }
            state.timer = timer
            state.continuation = continuation
            return false
        }
        if isOver {
            if let timer { timer.turnstile.removeTimer(timer) }
            continuation.resume()
        }
    }

    func cancel() {
        let timer = state.withLock { state in
            defer { state.timer = nil }
            return state.timer.map { Timer(thread: $0) }
        }
        if let timer { timer.thread.turnstile.removeTimer(timer.thread) }
        end()
    }

    private struct Timer: @unchecked Sendable {
        // Only the thread that has the turn uses `thread`.
        let thread: ControlledThread
    }

    private func end() {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            state.isOver = true
            return state.continuation
        }
        continuation?.resume()
    }
}
