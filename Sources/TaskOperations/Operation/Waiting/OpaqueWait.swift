/// A wait of a body for a semaphore, a completion handler or a group. The wait is not an edge of the wait graph,
/// because the library cannot predict the event that ends the wait. Explanations name the awaited object.
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
}
