import Synchronization

/// A function that wraps each body of a queue.
struct BodyInterceptor: Sendable {
    typealias Function = @Sendable (AnyTaskOperation, () async throws -> Void) async throws -> Void

    // A lock must contain a function only within a type of its own. Otherwise, each access to the lock wraps the
    // function once more: https://github.com/swiftlang/swift/issues/91348
    let run: Function
}

extension AnyTaskOperation {
    var isInternal: Bool { record.withLock { $0.isInternal } }
}

extension Scheduler {
    /// Adds an interceptor that wraps the present ones.
    nonisolated func addInterceptor(_ run: @escaping BodyInterceptor.Function) {
        interceptor.set { inner in
            guard let inner else { return BodyInterceptor(run: run) }
            return BodyInterceptor { operation, body in
                try await run(operation) { try await inner.run(operation, body) }
            }
        }
    }

    /// Runs a body within the interceptors of this queue.
    nonisolated func runIntercepted(_ operation: AnyTaskOperation, on bodyTask: BodyTask) async -> Outcome? {
        guard let interceptor = interceptor.value, !operation.isInternal else {
            return await operation.run(on: bodyTask)
        }
        var outcome: Outcome??
        do {
            try await interceptor.run(operation) {
                require(
                    outcome == nil, "A body interceptor called the body of \(OperationLabel(operation)) twice.")
                let result = await runUnintercepted(operation)
                outcome = .some(result)
                if case .failure(let error)? = result?.result { throw error }
            }
        } catch {
            if outcome == nil {
                operation.discardBody()
                return Outcome(.failure(error))
            }
        }
        if let outcome { return outcome }
        operation.discardBody()
        return Outcome(.failure(TaskOperationError.bodyNotCalled(OperationLabel(operation))))
    }

    /// Runs a body that an interceptor calls, in the place of the queue: the interceptor may call it on another executor,
    /// and in a child task. The body has its own `BodyTask`, because other child tasks of the interceptor are no part of the
    /// body.
    private nonisolated func runUnintercepted(_ operation: AnyTaskOperation) async -> Outcome? {
        if case .mainActor = place { return await Self.runOnMainActor(operation) }
        return await Self.runOffActors(operation)
    }

    // The compiler omits a hop before the call of a `nonisolated(nonsending)` function. Synchronous code, such as the
    // creation of the `BodyTask`, forces the hop.

    @MainActor
    private static func runOnMainActor(_ operation: AnyTaskOperation) async -> Outcome? {
        MainActor.preconditionIsolated()
        let bodyTask = BodyTask()
        return await bodyTask.whileFound { await operation.run(on: bodyTask) }
    }

    @concurrent
    private static func runOffActors(_ operation: AnyTaskOperation) async -> Outcome? {
        let bodyTask = BodyTask()
        return await bodyTask.whileFound { await operation.run(on: bodyTask) }
    }
}
