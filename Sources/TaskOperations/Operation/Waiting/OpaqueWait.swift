import Synchronization

/// A wait of a body for a semaphore, a completion handler or a group. Explanations name the awaited object. The wait is
/// an edge of the wait graph only if operations end it. The library cannot predict other events.
package struct OpaqueWait: Sendable {
    package enum Kind: Sendable {
        case semaphore, completionHandler, group
    }

    let kind: Kind
    let subject: any AwaitedSubject
    let since = ContinuousClock.now
}

package protocol AwaitedSubject: AnyObject, Sendable {
    /// The name and the state of the awaited object.
    var waitDescription: String { get }
}

extension AnyTaskOperation {
    /// Performs a wait for an object. If a body waits, explanations can name the awaited object during the wait.
    package static func recordingWait<Result, Failure>(
        _ kind: OpaqueWait.Kind, _ subject: any AwaitedSubject, wait: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard let body = awaiting else { return try await wait() }
        let slot = body.record.withLock { record in
            record.hasBody ? record.madeLinks().notes.insert(OpaqueWait(kind: kind, subject: subject)) : nil
        }
        guard let slot else { return try await wait() }
        defer { extendLifetime(body.record.withLock { $0.links?.notes.remove(at: slot) }) }
        return try await wait()
    }

    /// Performs a wait for an object that this operation represents. If a body waits, the wait is an edge of the wait
    /// graph, and explanations name the object.
    package func whileAwaited(
        _ kind: OpaqueWait.Kind, _ subject: any AwaitedSubject, wait: () async -> Void
    ) async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), for: .described) {
            await Self.recordingWait(kind, subject, wait: wait)
        }
    }
}
