/// The workers of a scope: child tasks of the task that opened it, or of a child of that, which do nothing else.
///
/// Only the task that owns a task group can add to it, and workers are asked for by whatever thread adds an operation. So
/// while the scope's task runs the user's code, a child of it makes them, in a group of its own. From the end of that
/// code on, the scope's task does so itself: a scope that adds operations and is left needs no other thread for it.
///
/// Workers inherit what child tasks do: task locals, cancellation and escalation of the task that opened the scope. They
/// see the task locals as these were when it was opened, which is why the scope's task makes none while the user's code
/// may have bound others.
final class ScopeWorkers: Sendable {
    private struct State: Sendable {
        /// Workers that are asked for.
        var requested: [Worker] = []
        /// The scope's task makes them from now on.
        var isHandedOver = false
        /// No more will be asked for.
        var isOver = false
        /// The task that makes them, if it has nothing to do.
        var waiting: CheckedContinuation<Void, Never>?

        /// What the scope's task, or the child of it, has to do.
        func step(isScope: Bool) -> Step {
            if !isScope, isHandedOver { return .leave }
            if requested.isEmpty { return isOver ? .leave : .wait }
            return .make(requested)
        }
    }

    private enum Step {
        case make([Worker])
        case leave
        case wait
    }

    private let state = Lock(State())

    /// Asks for a worker, which begins as soon as it is made.
    func start(_ worker: Worker) {
        change { $0.requested.append(worker) }
    }

    /// Lets `serve` return. No worker may be asked for afterwards.
    func end() {
        change { $0.isOver = true }
    }

    /// Makes workers as they are asked for, until the scope's task does.
    @concurrent
    func serveBody() async {
        await withDiscardingTaskGroup { group in
            while let workers = await next(isScope: false) {
                for worker in workers { worker.start(in: &group) }
            }
        }
    }

    /// Makes workers as they are asked for, until the end, as children of the scope's task.
    func serve(in group: inout DiscardingTaskGroup) async {
        change { $0.isHandedOver = true }
        while let workers = await next(isScope: true) {
            for worker in workers { worker.start(in: &group) }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            return state.waiting.take()
        }
        if let waiting { InlineJobs.resume([waiting]) }
    }

    /// What is asked for, once anything is; nil if there is nothing to do for the caller any more.
    private func next(isScope: Bool) async -> [Worker]? {
        while true {
            let step = state.withLock { state in
                let step = state.step(isScope: isScope)
                if case .make = step { state.requested = [] }
                return step
            }
            switch step {
            case .make(let workers): return workers
            case .leave: return nil
            case .wait: await wait(isScope: isScope)
            }
        }
    }

    private func wait(isScope: Bool) async {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard case .wait = state.step(isScope: isScope) else { return false }
                state.waiting = continuation
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }
}
