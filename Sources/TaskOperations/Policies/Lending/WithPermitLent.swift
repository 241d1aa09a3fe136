/// Calls a function, and lends the permit of the calling body to other operations during the call.
///
/// By default, a body keeps its permit while it waits, so that no other body of a serial queue can run. It lends the
/// permit automatically only if the awaited operation needs the permit to end. Use this function for long waits for
/// external events, such as a user's answer, a file lock, or a pause.
///
/// ```swift
/// queue.addOperation {
///     let draft = try await prepare()
///     let answer = try await withPermitLent { try await user.confirm(draft) }
///     try await publish(draft, answer)
/// }
/// ```
///
/// While `work` runs, other operations of the queue can execute. After `work`, the body waits until a permit is free.
/// The body receives the permit before any other operation starts, even on a suspended queue. Cancelling the operation
/// does not shorten this wait.
///
/// Child tasks of the body that run during the call have no permit. Calls may be nested, and several child tasks may
/// call this function at once. The body takes its permit back after the last of these calls.
///
/// In the following cases, the function lends no permit and only calls `work`:
/// - The calling task does not belong to a body. For example, it is an unstructured task that a body has started.
/// - The operation was started without a queue.
/// - The queue has the option `lending: .never`.
///
/// - Parameter work: The function that needs no permit.
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
    /// Calls a function. If the calling task belongs to a body, the body lends its permit during the call.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the wait, for explanations.
    ///   - continues: Called after `work`. Returns true if the body needs its permit back. Otherwise the body must end at
    ///     once.
    static func lendingPermit(
        for purpose: OperationLinks.Wait.Purpose = .work, continues: () -> Bool = { true }, while work: () async -> Void
    ) async {
        // In the wait graph, the body waits for this operation, which represents the work.
        let end = TaskOperation.placeholder(name: nil)
        do {
            try await withWaitEdge(.operation(end), permit: .lent, for: purpose, continues: continues) {
                await work()
                end.finishExternally()
            }
        } catch {
            preconditionFailure("something new waits for another: \(error)")
        }
    }
}
