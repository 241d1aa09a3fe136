import Synchronization

/// A function that wraps each body of a queue.
typealias BodyInterceptor = @Sendable (AnyTaskOperation, () async throws -> Void) async throws -> Void

/// The interceptors of a queue, combined into one function; empty if no interceptor was added.
struct BodyInterceptors: ~Copyable, Sendable {
    private let surrounding = Lock<BodyInterceptor?>(nil)
    private let isSet = Atomic(false)

    var isEmpty: Bool { !isSet.load(ordering: .relaxed) }

    var current: BodyInterceptor? { surrounding.withLock { $0 } }

    /// Adds an interceptor that wraps the present ones.
    func add(_ outer: @escaping BodyInterceptor) {
        let replaced = surrounding.withLock { surrounding in
            let inner = surrounding
            surrounding = inner.map { Self.join(outer, $0) } ?? outer
            return inner
        }
        extendLifetime(replaced)
        isSet.store(true, ordering: .relaxed)
    }

    private static func join(_ outer: @escaping BodyInterceptor, _ inner: @escaping BodyInterceptor) -> BodyInterceptor
    {
        { operation, body in try await outer(operation) { try await inner(operation, body) } }
    }
}

extension Scheduler {
    /// Runs a body within the interceptors of this queue.
    nonisolated func runSurrounded(_ operation: AnyTaskOperation, on runner: OperationRunner) async -> Outcome? {
        guard let surrounding = surroundings.current else { return await runUnsurrounded(operation, on: runner) }
        var outcome: Outcome??
        do {
            try await surrounding(operation) {
                require(
                    outcome == nil, "A body interceptor called the body of \(OperationLabel(operation)) twice.")
                let result = await runUnsurrounded(operation, on: runner)
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
        return Outcome(.failure(BodySurroundingError.bodyNotCalled(OperationLabel(operation))))
    }
}

/// The error of an operation whose body was not called by an interceptor.
public enum BodySurroundingError: Error, Sendable, CustomStringConvertible {
    /// An interceptor of the queue returned without calling the body of this operation.
    case bodyNotCalled(OperationLabel)

    public var description: String {
        switch self {
        case .bodyNotCalled(let operation): "A body interceptor did not call the body of \(operation)."
        }
    }
}
