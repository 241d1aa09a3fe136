/// Calls a body in a child task, which is cancelled when its time is over, and waits for the end of the body.
///
/// The body runs in the caller's isolation.
///
/// - Parameter makeError: Makes the error to throw if the time was over first.
func inChildTask<Value: Sendable>(
    for limit: Duration, clock: any Clock<Duration>, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () async throws -> Value, error makeError: () -> any Error
) async throws -> Value {
    let face = ClockFace(clock)
    let end = face.moment(after: limit)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await call(body, isolation: isolation) }
        group.addTask {
            await DeadlineSleep.$isCurrent.withValue(true) { await face.sleep(until: end) }
            return nil
        }
        defer { group.cancelAll() }
        if let value = try await group.next()! { return value }
        group.cancelAll()
        _ = await group.nextResult()
        try Task.checkCancellation()
        throw makeError()
    }
}

private func call<Value>(
    _ body: @Sendable () async throws -> Value, isolation: isolated (any Actor)?
) async throws -> Value {
    try await body()
}
