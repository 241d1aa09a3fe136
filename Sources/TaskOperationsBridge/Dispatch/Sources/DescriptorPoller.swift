internal import Foundation
internal import TaskOperations

/// Waits for file descriptors on behalf of tasks: one thread for the whole process, which sleeps in `poll`.
///
/// `poll` says how a descriptor is, with nothing to register before or to undo after. Each time that the thread
/// wakes, twice for a wait, it costs time linear in all the waits: some 300 ns each, measured with 400 of them.
final class DescriptorPoller: Sendable {
    private typealias Readiness = Result<DescriptorEvents?, SystemCallError>

    private struct Wait: Sendable {
        let fileDescriptor: Int32
        let events: DescriptorEvents
        let result: OneShot<Readiness>
    }

    private struct State: Sendable {
        var waits: [ObjectIdentifier: Wait] = [:]
        /// Wakes the thread; there from the start of the thread on.
        var pipe: WakingPipe?
    }

    static let shared = DescriptorPoller()

    private let state = Lock(State())

    /// Waits until a descriptor is ready for something, or has failed or hung up. Returns nil where the task is
    /// cancelled.
    func wait(
        for events: DescriptorEvents, on fileDescriptor: Int32
    ) async throws(SystemCallError) -> DescriptorEvents? {
        if Task.isCancelled { return nil }
        if let ready = try pollNow(fileDescriptor, events) { return ready }
        let wait = Wait(fileDescriptor: fileDescriptor, events: events, result: OneShot())
        try add(wait)
        let result = await withTaskCancellationHandler {
            await wait.result.value
        } onCancel: {
            if wait.result.provide(.success(nil)) { remove(wait) }
        }
        return try result.get()
    }

    private func pollNow(
        _ fileDescriptor: Int32, _ events: DescriptorEvents
    ) throws(SystemCallError) -> DescriptorEvents? {
        var request = pollfd(fd: fileDescriptor, events: events.rawValue, revents: 0)
        while poll(&request, 1, 0) < 0 {
            if errno != EINTR { throw SystemCallError("poll") }
        }
        return try request.outcome?.get()
    }

    private func add(_ wait: Wait) throws(SystemCallError) {
        let (pipe, isNew) = try state.withLock { state throws(SystemCallError) -> (WakingPipe, Bool) in
            let isNew = state.pipe == nil
            let pipe = if let pipe = state.pipe { pipe } else { try WakingPipe() }
            state.pipe = pipe
            state.waits[ObjectIdentifier(wait.result)] = wait
            return (pipe, isNew)
        }
        if isNew { startThread(pipe) } else { pipe.wake() }
    }

    private func remove(_ wait: Wait) {
        let pipe = state.withLock { state in
            state.waits[ObjectIdentifier(wait.result)] = nil
            return state.pipe
        }
        pipe?.wake()
    }
}

// MARK: - The thread

extension DescriptorPoller {
    private func startThread(_ pipe: WakingPipe) {
        _ = SystemThread.start(name: "descriptors") { [self] in
            while true { pollOnce(pipe) }
        }
    }

    private func pollOnce(_ pipe: WakingPipe) {
        let waits = state.withLock { Array($0.waits.values) }
        var requests = waits.map { pollfd(fd: $0.fileDescriptor, events: $0.events.rawValue, revents: 0) }
        requests.append(pipe.pollRequest)
        if poll(&requests, nfds_t(requests.count), -1) < 0 {
            let error = SystemCallError("poll")
            if error.code != EINTR { for wait in waits { end(wait, .failure(error)) } }
            return
        }
        if requests.last!.revents != 0 { pipe.clear() }
        for (wait, request) in zip(waits, requests) {
            if let outcome = request.outcome { end(wait, outcome.map { $0 }) }
        }
    }

    private func end(_ wait: Wait, _ result: Readiness) {
        _ = state.withLock { $0.waits.removeValue(forKey: ObjectIdentifier(wait.result)) }
        wait.result.provide(result)
    }
}

extension pollfd {
    /// Nil where the descriptor is not ready.
    fileprivate var outcome: Result<DescriptorEvents, SystemCallError>? {
        if revents == 0 { return nil }
        if revents & Int16(POLLNVAL) != 0 { return .failure(SystemCallError("poll", code: EBADF)) }
        return .success(DescriptorEvents(rawValue: revents))
    }
}
