internal import TaskOperations
import TaskOperationsExtras

/// The state of an engine, and the workers that wait for a payload.
struct EnginePulls<Payload: Sendable>: Sendable {
    var core: InMemoryEngineState<Payload>
    private var waiting: [ObjectIdentifier: ProgressListener] = [:]

    /// Whether no worker waits.
    var isIdle: Bool { waiting.isEmpty }

    init(_ core: InMemoryEngineState<Payload>) {
        self.core = core
    }

    /// Removes and returns the workers to wake after an event: they can return, or must look again at an earlier time.
    ///
    /// - Parameter nextEnd: `core.nextEnd` before the event.
    mutating func takeWoken(since nextEnd: Duration?) -> [ProgressListener] {
        let isEarlier = core.nextEnd.map { next in nextEnd.map { next < $0 } ?? true } ?? false
        return core.hasNews || isEarlier ? takeWaiting() : []
    }

    mutating func takeWaiting() -> [ProgressListener] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }

    /// Returns the next payload for a worker, which waits if there is none.
    mutating func pull(for listener: ProgressListener, at now: Duration) -> InMemoryEngineState<Payload>.Pull {
        let pull = core.pull(at: now)
        if case .wait = pull { waiting[ObjectIdentifier(listener)] = listener }
        return pull
    }

    mutating func remove(_ listener: ProgressListener) { waiting[ObjectIdentifier(listener)] = nil }
}

extension RelativeClock {
    /// Waits until the engine changes or the time is `due`. The first call with a listener returns at once. Returns
    /// false if the task is cancelled.
    func wait(for listener: ProgressListener, until due: Duration?) async -> Bool {
        await withTimeoutHandler(due.map { $0 - now }, clock: clock) {
            await listener.nextChange()
        } onTimeout: {
            listener.wake()
        }
    }
}
