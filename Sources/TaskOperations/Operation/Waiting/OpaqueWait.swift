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
        body.record.withLock { record in
            if record.hasBody { record.madeLinks().notes.append(OpaqueWait(kind: kind, subject: subject)) }
        }
        defer { body.removeNote(of: subject) }
        return try await wait()
    }

    private func removeNote(of subject: any AwaitedSubject) {
        let removed = record.withLock { record -> OpaqueWait? in
            guard let links = record.links, let index = links.notes.firstIndex(where: { $0.subject === subject }) else {
                return nil
            }
            return links.notes.remove(at: index)
        }
        extendLifetime(removed)
    }
}
