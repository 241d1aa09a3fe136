/// Lends the permit of the calling body to other operations during a wait, and takes it back before the body continues.
///
/// A body keeps its permit during its waits, because otherwise another body of a serial queue could run. It lends the
/// permit automatically only if the awaited operation needs it. Use this function for long waits for external events,
/// such as a user's answer, a file lock, or a pause.
///
/// ```swift
/// queue.addOperation {
///     let draft = try await prepare()
///     let answer = try await withPermitLent { try await user.confirm(draft) }
///     try await publish(draft, answer)
/// }
/// ```
///
/// Meanwhile other operations of the queue execute. After `work`, the body waits until a permit is free. It gets the
/// permit before any other operation starts, even on a suspended queue. A cancellation does not shorten this wait.
/// Child tasks of the body that continue meanwhile have no permit. Calls may be nested, and made by several child
/// tasks at once: the permit is taken back after the last of them.
///
/// Outside of bodies, in an unstructured task that a body has started, and in operations that were started without a
/// queue, there is no permit to lend, and the function only calls `work`. The same holds for a queue with `lending:
/// .never`.
///
/// - Parameter work: The work without the permit.
/// - Returns: The result of `work`.
/// - Throws: The error that `work` throws.
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
    /// Calls a function for which the body of the calling task, if there is one, lends its permit.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the work, for explanations.
    ///   - goesOn: Called at the end: whether the body needs its permit back. If not, the body must end at once.
    static func lendingPermit(
        for purpose: OperationLinks.Wait.Purpose = .work, goesOn: () -> Bool = { true }, while work: () async -> Void
    ) async {
        // The target of the body's wait in the wait graph: the end of the work.
        let end = TaskOperation.placeholder(name: nil)
        do {
            try await withWaitEdge(.operation(end), permit: .lent, for: purpose, goesOn: goesOn) {
                await work()
                end.finishExternally()
            }
        } catch {
            preconditionFailure("something new waits for another: \(error)")
        }
    }
}
