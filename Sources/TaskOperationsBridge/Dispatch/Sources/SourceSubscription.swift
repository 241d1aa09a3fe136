internal import Dispatch
@_spi(Lock) internal import TaskOperations

/// A Dispatch source whose events are awaited one by one. It is cancelled when the subscription ends or is released.
final class SourceSubscription<Element: Sendable>: @unchecked Sendable {
    // `source` may be used from any thread, like all Dispatch objects. All mutable state is in `state`.

    private typealias State = SourceState<Element, CheckedContinuation<Element?, Never>>

    private let source: any DispatchSourceProtocol
    private let state: Lock<State>

    /// Creates a subscription to a source that is not activated.
    ///
    /// - Parameters:
    ///   - isWatched: Whether the source is resumed before the first wait, so that it has effect from the start.
    ///   - isSingle: Whether there is one event only.
    ///   - event: Makes an event of the source's data. Called for one after the other.
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

    /// Waits for the next event. Returns nil once there is none; cancelling the task ends the subscription.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let wait = state.withLock { state in
                    let wait = state.wait(continuation)
                    if case .waits(let command) = wait { carryOut(command) }
                    return wait
                }
                if case .has(let event) = wait { continuation.resume(returning: event) }
            }
        } onCancel: {
            finish()
        }
    }

    /// Ends the subscription.
    func finish() {
        let waiting = state.withLock { state in
            let (waiting, command) = state.finish()
            carryOut(command)
            return waiting
        }
        source.cancel()
        for continuation in waiting { continuation.resume(returning: nil) }
    }

    private func fire(_ event: Element) {
        let receiver = state.withLock { state in
            let (receiver, command) = state.fire(event)
            carryOut(command)
            return receiver
        }
        receiver?.resume(returning: event)
    }

    /// Called with the lock held, so that commands are performed in the order of the decisions. Dispatch calls no
    /// handler here.
    private func carryOut(_ command: State.Command?) {
        switch command {
        case .resume: source.resume()
        case .suspend: source.suspend()
        case nil: break
        }
    }
}
