import TaskOperations

/// Holds tasks until it is opened.
final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    /// Waits until the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Resumes all waiting tasks. Later tasks pass without waiting.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
