internal import Dispatch
internal import Synchronization
internal import TaskOperations

/// A subscription to a Dispatch source. It delivers the events one by one. The source is cancelled when the
/// subscription ends or is released.
final class SourceSubscription<Element: Sendable>: @unchecked Sendable {
    // Any thread may use `source`, like all Dispatch objects. All mutable state is in `state`, a lock.

    private typealias State = SourceState<Element, CheckedContinuation<Element?, Never>>

    private let source: any DispatchSourceProtocol
    private let state: Lock<State>

    /// Creates a subscription to a source that is not activated.
    ///
    /// - Parameters:
    ///   - isWatched: Whether the source is resumed before the first wait. Otherwise the first wait resumes it.
    ///   - isSingle: Whether the subscription ends after the first event.
    ///   - event: Makes an event of the source's data. No two calls of this function run at once.
    init(
        _ source: any DispatchSourceProtocol, isWatched: Bool = false, isSingle: Bool = false,
        event: @escaping @Sendable (_ data: UInt) -> Element
    ) {
        self.source = source
        state = Lock(State(isResumed: isWatched))
        source.setEventHandler { @Sendable [weak self] in
            guard let self else { return }
            fire(event(self.source.data))
            if isSingle { finish() }
        }
        source.setCancelHandler { @Sendable [weak self] in self?.finish() }
        if !isWatched { source.suspend() }
        source.activate()
    }

    deinit { finish() }

    /// Waits for the next event. Returns nil if the subscription has ended. Cancelling the task ends the subscription.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let wait = state.withLock { state in
                    let wait = state.wait(continuation)
                    if case .waits(let command) = wait { perform(command) }
                    return wait
                }
                if case .has(let event) = wait { continuation.resume(returning: event) }
            }
        } onCancel: {
            finish()
        }
    }

    func finish() {
        let waiting = state.withLock { state in
            let (waiting, command) = state.finish()
            perform(command)
            return waiting
        }
        source.cancel()
        for continuation in waiting { continuation.resume(returning: nil) }
    }

    private func fire(_ event: Element) {
        let receiver = state.withLock { state in
            let (receiver, command) = state.fire(event)
            perform(command)
            return receiver
        }
        receiver?.resume(returning: event)
    }

    /// Performs a command. The caller holds the lock, so that commands are performed in the order of their decisions.
    /// Dispatch calls no handler within these calls.
    private func perform(_ command: State.Command?) {
        switch command {
        case .resume: source.resume()
        case .suspend: source.suspend()
        case nil: break
        }
    }
}
