/// Lends the permit of the body that calls this to others while the body waits for something outside, and takes it back
/// before it goes on.
///
/// A body keeps its permit while it awaits, as a serial queue would lose its exclusion otherwise; it lends it by itself
/// only if what it awaits needs it. This is for long waits for something that needs no place in the queue: an answer of
/// the user, a lock on a file, a pause.
///
/// ```swift
/// queue.addOperation {
///     let draft = try await prepare()
///     let answer = try await withPermitLent { try await user.confirm(draft) }
///     try await publish(draft, answer)
/// }
/// ```
///
/// Meanwhile other operations of the queue execute. The body gets its permit back before anything new starts, on a
/// suspended queue too, and waits for it if all are taken; a cancellation does not shorten that wait. Child tasks of the
/// body that go on meanwhile do so without a permit. Calls may be nested, and made by several child tasks at once: the
/// permit comes back after the last of them.
///
/// Outside of bodies, in an unstructured task that a body has started, and in operations that were started by hand,
/// there is no permit to lend, and this only does the work. A queue with `lending: .never` never lends: there, too,
/// this only does the work.
///
/// - Parameter work: What is done without the permit.
/// - Returns: What `work` returns.
/// - Throws: What `work` throws.
public func withPermitLent<Value, Failure>(
    _ work: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    var result: Result<Value, Failure>?
    await AnyTaskOperation.lendingPermit {
        do throws(Failure) {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
    }
    return try result!.get()
}

extension AnyTaskOperation {
    /// Does something for which the body of the calling task, if there is one, lends its permit.
    ///
    /// - Parameters:
    ///   - purpose: What the work is, for explanations.
    ///   - goesOn: Asked at the end: whether the body needs its permit back. If not, it has to end at once.
    static func lendingPermit(
        for purpose: OperationLinks.Wait.Purpose = .work, goesOn: () -> Bool = { true }, while work: () async -> Void
    ) async {
        // What the body waits for, in the wait graph: the end of the work.
        let end = TaskOperation.standIn(name: nil)
        do {
            try await whileAwaiting(.operation(end), permit: .lent, for: purpose, goesOn: goesOn) {
                await work()
                end.endFromOutside()
            }
        } catch {
            preconditionFailure("something new waits for another: \(error)")
        }
    }
}
